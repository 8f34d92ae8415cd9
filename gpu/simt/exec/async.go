package exec

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// asyncCopies are the copies of a warp that have not been waited for. Their bytes
// arrive in shared memory when they are: reading earlier shows old data.
type asyncCopies struct {
	list []asyncCopy
	// groups counts the groups that each lane has committed.
	groups [lanes.Width]int
}

type asyncCopy struct {
	in    *program.Inst
	lane  int
	to    uint32
	n     int
	data  [16]byte
	group int // -1 until committed
}

func (a *asyncCopies) reset() {
	a.list = a.list[:0]
	clear(a.groups[:])
}

func (a *asyncCopies) commit(mask uint32) {
	for i := range a.list {
		if c := &a.list[i]; c.group < 0 && mask>>c.lane&1 != 0 {
			c.group = a.groups[c.lane]
		}
	}
	for lane := range a.groups {
		if mask>>lane&1 != 0 {
			a.groups[lane]++
		}
	}
}

// asyncCopy reads global memory and keeps the bytes until they are waited for.
func (w *warp) asyncCopy(pc int, in *program.Inst, mask uint32) {
	b := w.block
	m := in.Memory
	c := m.Copy
	read := mask
	if c.Ignore >= 0 {
		p := w.file.Predicates[c.Ignore]
		if c.IgnoreNot {
			p = ^p
		}
		read &^= p
	}
	var from, to [lanes.Width]uint64
	w.addresses(c.From, &from)
	w.addresses(m, &to)
	lens := [lanes.Width]int{}
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		if read>>lane&1 != 0 {
			lens[lane] = c.Bytes
			if c.SourceBytes.Offset >= 0 {
				lens[lane] = min(c.Bytes, int(lanes.At[uint32](&w.file, c.SourceBytes.Offset)[lane]))
			}
		}
		if lens[lane] == 0 {
			read &^= 1 << lane
		}
	}
	b.countGlobal(&b.counters.AsyncCopies, pc, &from, read, c.Bytes)
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 || !w.sharedBounds(in, to[lane], c.Bytes, c.Bytes, lane) {
			continue
		}
		copied := asyncCopy{in: in, lane: lane, to: uint32(to[lane]), n: c.Bytes, group: -1}
		if n := lens[lane]; n > 0 {
			if a := w.globalBounds(pc, in, from[lane], n, c.Bytes, lane, false); a != nil {
				at := int64(from[lane] - a.Base)
				copy(copied.data[:n], a.Data[at:at+int64(n)])
				w.globalRead(in, a, at, n, lane, false)
			}
		}
		w.mark(copied, 1)
		w.async.list = append(w.async.list, copied)
	}
}

func (w *warp) mark(c asyncCopy, d int) {
	s := &w.block.shadow
	if s.pending == nil {
		return
	}
	for g := c.to >> s.shift; g <= (c.to+uint32(c.n)-1)>>s.shift; g++ {
		s.pending[g] += uint16(d)
	}
}

// asyncWait lets copies arrive: all, or all but those of the latest groups.
func (w *warp) asyncWait(in *program.Inst, mask uint32) {
	kept := w.async.list[:0]
	for _, c := range w.async.list {
		late := in.Warp.Groups >= 0 && (c.group < 0 || c.group >= w.async.groups[c.lane]-in.Warp.Groups)
		if mask>>c.lane&1 == 0 || late {
			kept = append(kept, c)
			continue
		}
		w.mark(c, -1)
		if w.block.checked {
			w.writeShared(c.in, c.to, c.n, c.lane, false, false)
		}
		copy(w.block.shared[c.to:], c.data[:c.n])
	}
	w.async.list = kept
}

// globalRead checks and notes that a lane reads n bytes of an allocation.
func (w *warp) globalRead(in *program.Inst, a *memory.Allocation, at int64, n, lane int, strong bool) {
	b := w.block
	if !b.checked {
		return
	}
	if a.Unwritten(at, int64(n)) {
		b.report(in, w, lane, globalFinding(verdict.UnwrittenGlobal, a, at, n, "global memory that nothing has written is read"), "")
	}
	for g := uint64(at) >> b.run.shift; g <= uint64(at+int64(n)-1)>>b.run.shift; g++ {
		if c, other := a.Read(g, &b.access, strong); c != memory.None {
			w.globalRace(in, a, g, n, lane, c, other)
		}
	}
}

// globalWrite checks and notes that a lane writes n bytes of an allocation. A
// write of what is there already does not race with another write.
func (w *warp) globalWrite(in *program.Inst, a *memory.Allocation, at int64, n, lane int, strong, same bool) {
	a.Written(at, int64(n))
	b := w.block
	if !b.checked {
		return
	}
	for g := uint64(at) >> b.run.shift; g <= uint64(at+int64(n)-1)>>b.run.shift; g++ {
		if c, other := a.Write(g, &b.access, strong); c != memory.None && !(same && c == memory.WriteAfterWrite) {
			w.globalRace(in, a, g, n, lane, c, other)
		}
	}
}
