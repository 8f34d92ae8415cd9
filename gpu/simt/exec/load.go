package exec

import (
	"sync/atomic"
	"unsafe"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

func (w *warp) load(pc int, in *program.Inst, mask uint32) {
	masks := w.locate(in.Memory, mask)
	if m := masks[program.Global]; m != 0 {
		w.loadGlobal(pc, in, &w.at, m)
	}
	if m := masks[program.Shared]; m != 0 {
		w.loadShared(pc, in, &w.at, m)
	}
	if m := masks[program.Local]; m != 0 {
		w.loadLocal(in, &w.at, m)
	}
	if m := masks[program.EntryParam]; m != 0 {
		w.loadParam(in, &w.at, m)
	}
}

// receive stores the elements at b in the registers of a lane.
func (w *warp) receive(m *program.Memory, b []byte, lane int) {
	for i, e := range m.Elements {
		v := fetch(b[i*m.Size:], m.Size)
		if m.Signed {
			v = lanes.Extend(v, 8*m.Size, true)
		}
		w.set(e, lane, v)
	}
}

// nothing is what an access that is not allowed reads.
var nothing [32]byte

func (w *warp) loadGlobal(pc int, in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	b := w.block
	m := in.Memory
	n := m.Size * len(m.Elements)
	if in.Class != verdict.ParamAccess {
		b.countGlobal(&b.counters.GlobalLoads, pc, at, mask, n)
	}
	if w.loadWords(pc, in, at, mask) {
		return
	}
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		a := w.globalBounds(pc, in, at[lane], n, n, lane, false)
		if a == nil {
			w.receive(m, nothing[:], lane)
			continue
		}
		from := int64(at[lane] - a.Base)
		w.globalRead(in, a, from, n, lane, m.Strong)
		if m.Strong {
			w.receiveStrong(in, a, from, lane)
			continue
		}
		w.receive(m, a.Data[from:], lane)
	}
}

// receiveStrong reads a word that other blocks may be writing.
func (w *warp) receiveStrong(in *program.Inst, a *memory.Allocation, from int64, lane int) {
	m := in.Memory
	defer w.block.acquire(a.Base + uint64(from))
	if m.Size < 4 {
		w.receive(m, a.Data[from:], lane)
		return
	}
	for i, e := range m.Elements {
		p := unsafe.Pointer(&a.Data[from+int64(i*m.Size)])
		if m.Size == 8 {
			w.set(e, lane, atomic.LoadUint64((*uint64)(p)))
		} else {
			v := uint64(atomic.LoadUint32((*uint32)(p)))
			if m.Signed {
				v = lanes.Extend(v, 32, true)
			}
			w.set(e, lane, v)
		}
	}
}

// loadWords is the path of most loads: one 32-bit word per lane, all in one
// allocation that has been written. It reports false if it is another.
func (w *warp) loadWords(pc int, in *program.Inst, at *[lanes.Width]uint64, mask uint32) bool {
	m := in.Memory
	a := w.block.cache[pc]
	if m.Size != 4 || len(m.Elements) != 1 || m.Strong || a == nil || m.Elements[0].Wide || m.Elements[0].Offset < 0 ||
		a.Size < 4 || !a.AllWritten() {
		return false
	}
	var all uint64
	for i, p := range at {
		if mask>>i&1 == 0 {
			continue
		}
		if p-a.Base > uint64(a.Size)-4 {
			return false
		}
		all |= p
	}
	if all&3 != 0 {
		return false
	}
	d := lanes.At[uint32](&w.file, m.Elements[0].Offset)
	for i, p := range at {
		if mask>>i&1 != 0 {
			d[i] = little.Uint32(a.Data[p-a.Base:])
		}
	}
	if !w.block.checked {
		return true
	}
	b := w.block
	last := ^uint64(0)
	for lane, p := range at {
		g := (p - a.Base) >> b.run.shift
		if mask>>lane&1 == 0 || g == last {
			continue
		}
		last = g
		for k := range uint64(4) >> b.run.shift {
			if c, other := a.Read(g+k, &b.access, false); c != memory.None {
				w.globalRace(in, a, g+k, 4, lane, c, other)
			}
		}
	}
	return true
}

func (w *warp) loadLocal(in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	b := w.block
	m := in.Memory
	n := m.Size * len(m.Elements)
	countLocal(&b.counters.LocalLoads, mask, n)
	size := b.launch.Program.LocalBytes
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		if !w.bounds(in, program.Local, at[lane], n, n, lane, size) {
			w.receive(m, nothing[:], lane)
			continue
		}
		w.receive(m, b.local[(w.id*lanes.Width+lane)*size+int(at[lane]):], lane)
	}
}

// loadParam reads kernel parameters, whose addresses may carry their window.
func (w *warp) loadParam(in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	m := in.Memory
	n := m.Size * len(m.Elements)
	params := w.block.launch.Params
	if m.Base < 0 && mask == lanes.Full && len(m.Elements) == 1 && m.Offset <= uint64(len(params)) && uint64(n) <= uint64(len(params))-m.Offset {
		e, v := m.Elements[0], fetch(params[m.Offset:], m.Size)
		if m.Signed {
			v = lanes.Extend(v, 8*m.Size, true)
		}
		if e.Offset >= 0 && e.Wide {
			lanes.Broadcast(lanes.At[uint64](&w.file, e.Offset), v)
		} else if e.Offset >= 0 {
			lanes.Broadcast(lanes.At[uint32](&w.file, e.Offset), uint32(v))
		}
		return
	}
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		a := at[lane] &^ program.ParamWindow
		if !w.bounds(in, program.EntryParam, a, n, n, lane, len(params)) {
			w.receive(m, nothing[:], lane)
			continue
		}
		w.receive(m, params[a:], lane)
	}
}
