package exec

import (
	"slices"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// warp is 32 lanes that share a register file. Where its lanes go different ways
// it has several paths.
type warp struct {
	id    int
	block *block
	file  lanes.File
	// constant says that constants and what depends on the launch are in place.
	constant bool

	lanes   uint32 // that exist
	exited  uint32
	done    bool
	current *path
	ready   []*path // the last runs next
	blocked []*path // at barriers
	spare   []*path

	// clock counts this warp's synchronisations; seen holds how far it knows the
	// other warps to have come. Of its own past it has seen all but the present.
	clock uint32
	seen  []uint32
	async asyncCopies
	// yield says that the warp waits at an mbarrier for others, which shall run first.
	yield       bool
	waiting     *program.Inst // where it did last
	waitingLane int
	// at are the addresses of the access being executed.
	at [lanes.Width]uint64
}

// path is some lanes of a warp that execute together. A path with children waits
// for them at pc.
type path struct {
	pc, join int
	mask     uint32
	parent   *path
	children int
	barrier  int           // where it is blocked
	at       *program.Inst // the barrier instruction
}

func (w *warp) start() {
	b := w.block
	n := min(b.threads-w.id*lanes.Width, lanes.Width)
	w.lanes = lanes.Full >> (lanes.Width - n)
	w.exited, w.done = 0, false
	w.ready, w.blocked = w.ready[:0], w.blocked[:0]
	if !w.constant {
		w.constants()
		w.constant = true
	}
	w.perBlock()
	w.clock = 1
	clear(w.seen)
	w.async.reset()
	w.current = w.newPath(0, -1, w.lanes, nil)
}

func (w *warp) newPath(pc, join int, mask uint32, parent *path) *path {
	var p *path
	if n := len(w.spare); n > 0 {
		p, w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		p = &path{}
	}
	*p = path{pc: pc, join: join, mask: mask, parent: parent}
	return p
}

func (w *warp) runnable() bool { return w.current != nil || len(w.ready) > 0 }

// execute runs up to n instructions, until the warp ends or is blocked.
func (w *warp) execute(n int) {
	b := w.block
	code, c := b.code, &b.counters
	w.yield = false
	for ; n > 0; n-- {
		p := w.current
		if p == nil {
			if len(w.ready) == 0 {
				break
			}
			p = w.ready[len(w.ready)-1]
			w.ready = w.ready[:len(w.ready)-1]
			w.current = p
		}
		if p.pc == p.join {
			w.end(p)
			continue
		}
		in := &code[p.pc]
		p.pc++
		mask := p.mask
		if in.Guard >= 0 {
			g := w.file.Predicates[in.Guard]
			if in.GuardNot {
				g = ^g
			}
			mask &= g
		}
		b.instructions++
		count(c, in, mask)
		if b.sites != nil {
			s := &b.sites[p.pc-1]
			s.Executed++
			s.Lanes += lanesOf(mask)
		}
		switch {
		case in.Kind == program.Pure:
			if mask != 0 {
				in.Run(&w.file, &in.Regs, mask)
			}
		case in.Kind == program.Branch:
			w.branch(p, in, mask)
		case mask != 0:
			w.impure(p, in, mask)
			if b.err != nil {
				return
			}
			if w.yield {
				n = 1 // the last of this turn
			}
		}
	}
	switch {
	case w.current == nil && len(w.ready) == 0 && len(w.blocked) == 0:
		w.done = true
		b.release()
	case n == 0 && w.current != nil && len(w.ready) > 0:
		// Lanes that wait in a loop for others of their warp must let them go on.
		w.ready = slices.Insert(w.ready, 0, w.current)
		w.current = nil
	}
}

// impure executes what needs more than the register file.
func (w *warp) impure(p *path, in *program.Inst, mask uint32) {
	b := w.block
	switch in.Kind {
	case program.Load:
		w.load(p.pc-1, in, mask)
	case program.Store:
		w.store(p.pc-1, in, mask)
	case program.Atomic:
		w.atomic(p.pc-1, in, mask)
	case program.Exit:
		w.exited |= mask
		if p.mask &^= mask; p.mask == 0 {
			w.end(p)
		}
		b.release()
	case program.Trap:
		b.err = b.halt(in, w, firstLane(mask), verdict.Trapped, w.trap(in, firstLane(mask)))
	case program.Barrier:
		w.arrive(p, in, mask)
	case program.WarpSync:
		w.members(in, mask)
		w.seen[w.id] = w.clock
		w.tick()
	case program.Fence:
		b.fenced = b.fenced || in.Memory.Release
	case program.Shuffle, program.Vote, program.Match, program.Reduce, program.ActiveMask, program.Elect:
		w.acrossLanes(in, mask)
	case program.Counter:
		w.readCounter(in, mask)
	case program.AsyncCopy:
		w.asyncCopy(p.pc-1, in, mask)
	case program.AsyncCommit:
		w.async.commit(mask)
	case program.AsyncWait:
		w.asyncWait(in, mask)
	case program.Print:
		w.print(in, mask)
	case program.MBarrier:
		w.mbarrier(in, mask)
	case program.LoadMatrix, program.StoreMatrix:
		w.moveMatrix(p.pc-1, in, mask)
	case program.WarpMatrix:
		w.warpMatrix(p.pc-1, in, mask)
	case program.MultiplyMatrix:
		w.multiply(in, mask)
	}
}

// branch sends the lanes of mask to the target and the others on.
func (w *warp) branch(p *path, in *program.Inst, mask uint32) {
	c := &w.block.counters
	others := p.mask &^ mask
	var splits [lanes.Width + 1]split
	n := 0
	if others != 0 {
		splits[0], n = split{p.pc, others}, 1
	}
	if len(in.Targets) > 0 {
		c.Branches++
		n = w.indexed(in, mask, splits[:], n)
	} else {
		if in.Guard >= 0 {
			c.Branches++
		}
		if mask != 0 {
			splits[n] = split{int(in.Target), mask}
			n++
		}
	}
	if n == 1 {
		p.pc = splits[0].pc
		return
	}
	c.Divergent++
	if s := w.block.sites; s != nil {
		s[p.pc-1].Divergent++
	}
	w.diverge(p, int(in.Join), splits[:n])
}

// indexed groups lanes by the target that their index names; an index beyond the
// table is undefined, and taken as the last.
func (w *warp) indexed(in *program.Inst, mask uint32, splits []split, n int) int {
	index := lanes.At[uint32](&w.file, in.Regs.A)
	for i := range lanes.Width {
		if mask>>i&1 == 0 {
			continue
		}
		pc := int(in.Targets[min(int(index[i]), len(in.Targets)-1)])
		k := 0
		for k < n && splits[k].pc != pc {
			k++
		}
		if k == n {
			splits[k] = split{pc: pc}
			n++
		}
		splits[k].mask |= 1 << i
	}
	return n
}

// split is where some lanes of a path go.
type split struct {
	pc   int
	mask uint32
}

// diverge splits a path that meets again at join. The last split runs next.
func (w *warp) diverge(p *path, join int, splits []split) {
	parent := p
	if p.join == join {
		// The parent waits at the same place with all lanes: no need for another.
		parent = p.parent
		parent.children--
		w.spare = append(w.spare, p)
	} else {
		p.pc = join
	}
	w.current = nil
	for _, s := range splits {
		if s.pc == join {
			continue
		}
		parent.children++
		w.ready = append(w.ready, w.newPath(s.pc, join, s.mask, parent))
	}
}

// end retires a path: at its join, or when its lanes have exited. The parent goes
// on when its last child has come.
func (w *warp) end(p *path) {
	w.current = nil
	parent := p.parent
	w.spare = append(w.spare, p)
	if parent == nil {
		return
	}
	if parent.children--; parent.children > 0 {
		return
	}
	if parent.mask &^= w.exited; parent.mask == 0 {
		w.end(parent)
		return
	}
	w.ready = append(w.ready, parent)
}
