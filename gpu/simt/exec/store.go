package exec

import (
	"bytes"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

func (w *warp) store(pc int, in *program.Inst, mask uint32) {
	masks := w.locate(in.Memory, mask)
	if m := masks[program.Global]; m != 0 {
		w.storeGlobal(pc, in, &w.at, m)
	}
	if m := masks[program.Shared]; m != 0 {
		w.storeShared(pc, in, &w.at, m)
	}
	if m := masks[program.Local]; m != 0 {
		w.storeLocal(in, &w.at, m)
	}
	if m := masks[program.EntryParam]; m != 0 {
		lane := firstLane(m)
		w.block.report(in, w, lane, verdict.Finding{Kind: verdict.WriteToConstant, Space: program.EntryParam.String(),
			Address: w.at[lane], Detail: "a kernel parameter is written"}, "")
	}
}

// send collects the elements of a lane.
func (w *warp) send(m *program.Memory, b []byte, lane int) {
	for i, e := range m.Elements {
		put(b[i*m.Size:], m.Size, w.get(e, lane))
	}
}

func (w *warp) storeGlobal(pc int, in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	b := w.block
	m := in.Memory
	n := m.Size * len(m.Elements)
	b.countGlobal(&b.counters.GlobalStores, pc, at, mask, n)
	var value [32]byte
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		a := w.globalBounds(pc, in, at[lane], n, n, lane, true)
		if a == nil {
			continue
		}
		from := int64(at[lane] - a.Base)
		w.send(m, value[:], lane)
		if m.Strong {
			w.globalWrite(in, a, from, n, lane, true, false)
			w.sendStrong(m, a, from, value[:n])
			continue
		}
		to := a.Data[from : from+int64(n)]
		w.globalWrite(in, a, from, n, lane, false, bytes.Equal(to, value[:n]))
		copy(to, value[:n])
	}
}

// sendStrong writes words that other blocks may be reading.
func (w *warp) sendStrong(m *program.Memory, a *memory.Allocation, from int64, value []byte) {
	w.block.publish(a.Base+uint64(from), m.Release)
	if m.Size < 4 {
		copy(a.Data[from:], value)
		return
	}
	for i := range m.Elements {
		p, v := unsafe.Pointer(&a.Data[from+int64(i*m.Size)]), fetch(value[i*m.Size:], m.Size)
		if m.Size == 8 {
			atomic.StoreUint64((*uint64)(p), v)
		} else {
			atomic.StoreUint32((*uint32)(p), uint32(v))
		}
	}
}

func (w *warp) storeShared(pc int, in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	b := w.block
	m := in.Memory
	n := m.Size * len(m.Elements)
	b.countShared(&b.counters.SharedStores, pc, at, mask, n)
	var value [32]byte
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 || !w.sharedBounds(in, at[lane], n, n, lane) {
			continue
		}
		w.send(m, value[:], lane)
		to := b.shared[at[lane] : at[lane]+uint64(n)]
		if b.checked {
			w.writeShared(in, uint32(at[lane]), n, lane, m.Strong, bytes.Equal(to, value[:n]))
		}
		copy(to, value[:n])
	}
}

func (w *warp) storeLocal(in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	b := w.block
	m := in.Memory
	n := m.Size * len(m.Elements)
	countLocal(&b.counters.LocalStores, mask, n)
	size := b.launch.Program.LocalBytes
	for lane := range lanes.Width {
		if mask>>lane&1 != 0 && w.bounds(in, program.Local, at[lane], n, n, lane, size) {
			w.send(m, b.local[(w.id*lanes.Width+lane)*size+int(at[lane]):], lane)
		}
	}
}

// countLocal counts a request to local memory.
func countLocal(t *verdict.Traffic, mask uint32, n int) {
	t.Requests++
	t.Bytes += int64(bits.OnesCount32(mask) * n)
}

// atomic executes atom and red, lane after lane.
func (w *warp) atomic(pc int, in *program.Inst, mask uint32) {
	masks := w.locate(in.Memory, mask)
	c := &w.block.counters
	c.AtomicOperations += lanesOf(mask)
	if masks[program.Shared] != 0 {
		c.SharedAtomics++
	}
	if masks[program.Global] != 0 {
		c.GlobalAtomics++
	}
	for lane := range lanes.Width {
		switch bit := uint32(1) << lane; {
		case mask&bit == 0:
		case masks[program.Shared]&bit != 0:
			w.atomicShared(in, w.at[lane], lane)
		case masks[program.Global]&bit != 0:
			w.atomicGlobal(pc, in, w.at[lane], lane)
		default:
			w.block.report(in, w, lane, verdict.Finding{Kind: verdict.OutOfBounds, Space: program.Local.String(), Address: w.at[lane],
				Bytes: in.Memory.Size, Detail: "atomics work on global and shared memory"}, "")
		}
	}
}

func lanesOf(mask uint32) int64 { return int64(bits.OnesCount32(mask)) }

func (w *warp) operands(e program.AtomicElement, lane int) (b, c uint64) {
	b = w.get(e.B, lane)
	if e.C.Offset >= 0 {
		c = w.get(e.C, lane)
	}
	return b, c
}

func (w *warp) atomicShared(in *program.Inst, at uint64, lane int) {
	m := in.Memory
	n := m.Size * len(m.Atomic.Elements)
	if !w.sharedBounds(in, at, n, n, lane) {
		return
	}
	if w.block.checked {
		if s := &w.block.shadow; s.wrote[uint32(at)>>s.shift] == 0 && !m.Atomic.Blind {
			w.block.report(in, w, lane, w.sharedFinding(verdict.UnwrittenShared, uint32(at)>>s.shift, n, "shared memory that nothing has written is changed by an atomic"), "")
		}
		w.writeShared(in, uint32(at), n, lane, true, false)
	}
	for i, e := range m.Atomic.Elements {
		word := w.block.shared[at+uint64(i*m.Size):]
		old := fetch(word, m.Size)
		b, c := w.operands(e, lane)
		put(word, m.Size, m.Atomic.Apply(old, b, c))
		w.set(e.D, lane, old)
	}
}

func (w *warp) atomicGlobal(pc int, in *program.Inst, address uint64, lane int) {
	m := in.Memory
	n := m.Size * len(m.Atomic.Elements)
	a := w.globalBounds(pc, in, address, n, n, lane, true)
	if a == nil {
		return
	}
	at := int64(address - a.Base)
	if w.block.checked && !m.Atomic.Blind && a.Unwritten(at, int64(n)) {
		w.block.report(in, w, lane, globalFinding(verdict.UnwrittenGlobal, a, at, n, "global memory that nothing has written is changed by an atomic"), "")
	}
	w.globalWrite(in, a, at, n, lane, true, false)
	w.block.publish(address, m.Release)
	defer w.block.acquire(address)
	for i, e := range m.Atomic.Elements {
		b, c := w.operands(e, lane)
		w.set(e.D, lane, exchange(a.Data, at+int64(i*m.Size), m.Size, func(old uint64) uint64 { return m.Atomic.Apply(old, b, c) }))
	}
}

// exchange replaces n bytes by f of them, in one step for all blocks.
func exchange(data []byte, at int64, n int, f func(uint64) uint64) uint64 {
	if n == 8 {
		p := (*uint64)(unsafe.Pointer(&data[at]))
		for {
			old := atomic.LoadUint64(p)
			if atomic.CompareAndSwapUint64(p, old, f(old)) {
				return old
			}
		}
	}
	// Of 2 bytes, the word around them is exchanged: allocations end on words.
	p := (*uint32)(unsafe.Pointer(&data[at&^3 : at+int64(n)][0]))
	shift := 8 * uint(at&3)
	mask := uint32(uint64(1)<<(8*n)-1) << shift
	for {
		word := atomic.LoadUint32(p)
		old := uint64(word & mask >> shift)
		if atomic.CompareAndSwapUint32(p, word, word&^mask|uint32(f(old))<<shift&mask) {
			return old
		}
	}
}
