package exec

import (
	"fmt"
	"math/bits"
	"strings"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// maxBarriers is what a block has (PTX manual, bar).
const maxBarriers = 16

// barrier is one named barrier of a block.
type barrier struct {
	arrived []uint32 // lanes by warp
	used    bool
	threads int // that complete it; 0 for all that have not exited
	votes   int // lanes that arrived with a true predicate
	voters  int
}

func (r *barrier) reset() {
	clear(r.arrived)
	r.used, r.threads, r.votes, r.voters = false, 0, 0, 0
}

// arrive is bar.sync, bar.arrive and bar.red.
func (w *warp) arrive(p *path, in *program.Inst, mask uint32) {
	b := w.block
	b.counters.Barriers++
	n := lanes.At[uint32](&w.file, in.Warp.Barrier)[firstLane(mask)]
	if n >= maxBarriers {
		b.err = b.failure(in, w, firstLane(mask), "barrier %d: a block has %d", n, maxBarriers)
		return
	}
	r := &b.bars[n]
	if live := w.lanes &^ w.exited; in.Warp.Aligned && mask != live {
		b.report(in, w, firstLane(mask), verdict.Finding{Kind: verdict.DivergentBarrier,
			Detail: fmt.Sprintf("divergent barrier: lanes %#x of the warp arrive, %#x have not exited", mask, live)}, "")
	}
	threads := 0
	if in.Warp.Threads >= 0 {
		threads = int(lanes.At[uint32](&w.file, in.Warp.Threads)[firstLane(mask)])
	}
	if r.used && r.threads != threads {
		b.report(in, w, firstLane(mask), verdict.Finding{Kind: verdict.DivergentBarrier,
			Detail: fmt.Sprintf("barrier %d is waited for by %s and by %s threads", n, all(r.threads), all(threads))}, "count")
	}
	r.used, r.threads = true, threads
	r.arrived[w.id] |= mask
	if in.Regs.P >= 0 {
		r.voters += bits.OnesCount32(mask)
		r.votes += bits.OnesCount32(mask & w.file.Operand(&in.Regs))
	}
	if in.Warp.Mode != "arrive" {
		if p.mask != mask {
			// A guard let some lanes pass: they go on without the others.
			rest := w.newPath(p.pc, p.join, p.mask&^mask, p.parent)
			if p.parent != nil {
				p.parent.children++
			}
			p.mask = mask
			w.ready = append(w.ready, rest)
		}
		p.barrier, p.at = int(n), in
		w.blocked = append(w.blocked, p)
		w.current = nil
	}
	b.release()
}

func all(threads int) string {
	if threads == 0 {
		return "all"
	}
	return fmt.Sprint(threads)
}

// complete says whether everybody is there.
func (b *block) complete(r *barrier) bool {
	if !r.used {
		return false
	}
	count := 0
	for i := range b.warps {
		w := &b.warps[i]
		live := w.lanes &^ w.exited
		if r.threads == 0 && live&^r.arrived[i] != 0 {
			return false
		}
		if r.arrived[i] != 0 && live&^r.arrived[i] == 0 {
			count += lanes.Width // a warp counts whole, as the manual says
		} else {
			count += bits.OnesCount32(r.arrived[i])
		}
	}
	return r.threads == 0 || count >= r.threads
}

// release lets go the warps of every barrier that is complete.
func (b *block) release() {
	for n := range b.bars {
		r := &b.bars[n]
		if !b.complete(r) {
			continue
		}
		b.meet(r)
		for i := range b.warps {
			w := &b.warps[i]
			kept := w.blocked[:0]
			for _, p := range w.blocked {
				if p.barrier != n {
					kept = append(kept, p)
					continue
				}
				w.barrierResult(p, r)
				w.ready = append(w.ready, p)
			}
			w.blocked = kept
		}
		r.reset()
	}
}

// barrierResult stores what bar.red returns.
func (w *warp) barrierResult(p *path, r *barrier) {
	in := p.at
	if in.Regs.D < 0 {
		return
	}
	yes := false
	switch in.Warp.Mode {
	case "popc":
		d := lanes.At[uint32](&w.file, in.Regs.D)
		for i := range d {
			if p.mask>>i&1 != 0 {
				d[i] = uint32(r.votes)
			}
		}
		return
	case "and":
		yes = r.votes == r.voters
	case "or":
		yes = r.votes > 0
	}
	w.file.Predicates[in.Regs.D] &^= p.mask
	if yes {
		w.file.Predicates[in.Regs.D] |= p.mask
	}
}

// meet orders what the warps of a barrier did before it ahead of what they do
// after.
func (b *block) meet(r *barrier) {
	known := b.known
	clear(known)
	for i := range b.warps {
		if r.arrived[i] == 0 {
			continue
		}
		w := &b.warps[i]
		for k, c := range w.seen {
			known[k] = max(known[k], c)
		}
		known[i] = max(known[i], w.clock)
	}
	for i := range b.warps {
		if r.arrived[i] == 0 {
			continue
		}
		copy(b.warps[i].seen, known)
		b.warps[i].tick()
		if b.warps[i].clock >= maxClock-1 && r.threads == 0 {
			b.restartClocks()
		}
	}
}

// restartClocks begins time anew, at a barrier of the whole block.
func (b *block) restartClocks() {
	b.shadow.forgetTimes()
	clear(b.mbarriers)
	for i := range b.warps {
		b.warps[i].clock = 1
		clear(b.warps[i].seen)
	}
}

// deadlock is the error when every warp waits.
func (b *block) deadlock() error {
	var waits []string
	var first *program.Inst
	var of *warp
	lane := 0
	for i := range b.warps {
		w := &b.warps[i]
		for _, p := range w.blocked {
			if first == nil {
				first, of, lane = p.at, w, firstLane(p.mask)
			}
			if len(waits) < 4 {
				waits = append(waits, fmt.Sprintf("warp %d (lanes %#x) waits for barrier %d at line %d", i, p.mask, p.barrier, p.at.Pos.Line))
			}
		}
	}
	if first == nil {
		return fmt.Errorf("kernel %s: no warp can run", b.launch.Program.Name)
	}
	return b.halt(first, of, lane, verdict.Deadlock, "deadlock: "+strings.Join(waits, "; "))
}
