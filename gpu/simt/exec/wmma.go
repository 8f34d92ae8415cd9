package exec

import (
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// warpMatrix is wmma.load, wmma.store and wmma.mma.
func (w *warp) warpMatrix(pc int, in *program.Inst, mask uint32) {
	if mask != lanes.Full {
		w.block.report(in, w, firstLane(mask), verdict.Finding{Kind: verdict.InvalidLanes, Detail: "a matrix instruction needs all lanes of the warp"}, "")
	}
	switch m := in.Wmma; m.Op {
	case "mma":
		w.wmmaMultiply(m)
	default:
		w.wmmaMove(pc, in, mask)
	}
}

// position returns the row and column of element i of a lane.
func position(f *program.Fragment, lane, i int) (row, column int) {
	e := lane*f.PerLane() + i
	if f.ByColumn {
		return e % f.Rows, e / f.Rows
	}
	return e / f.Columns, e % f.Columns
}

// element reads the bits of element i of a lane.
func (w *warp) element(f *program.Fragment, lane, i int) uint64 {
	bits := f.Bits()
	if bits == 64 {
		return w.get(f.Regs[i], lane)
	}
	per := 32 / bits
	return w.get(f.Regs[i/per], lane) >> (i % per * bits) & (1<<bits - 1)
}

// setElement writes it, to all registers that hold it.
func (w *warp) setElement(f *program.Fragment, lane, i int, v uint64) {
	bits := f.Bits()
	if bits == 64 {
		w.set(f.Regs[i], lane, v)
		return
	}
	per := 32 / bits
	needs := (f.PerLane() + per - 1) / per
	shift := i % per * bits
	for at := i / per; at < len(f.Regs); at += needs {
		old := w.get(f.Regs[at], lane)
		w.set(f.Regs[at], lane, old&^((1<<bits-1)<<shift)|v<<shift)
	}
}

// wmmaMove loads or stores a fragment, one element of every lane after the other.
// The accesses of the hardware are not known: the counters hold those.
func (w *warp) wmmaMove(pc int, in *program.Inst, mask uint32) {
	m := in.Wmma
	f := &m.D
	store := m.Op == "store"
	masks := w.locate(in.Memory, mask)
	base := w.at
	for i := range f.PerLane() {
		for lane := range w.at {
			row, column := position(f, lane, i)
			major, minor, stride := row, column, f.Columns
			if m.ByColumn {
				major, minor, stride = column, row, f.Rows
			}
			if m.Stride.Offset >= 0 {
				stride = int(uint32(w.get(m.Stride, lane)))
			}
			w.at[lane] = base[lane] + uint64(major*stride+minor)*uint64(in.Memory.Size)
		}
		w.countWmma(pc, &masks, in.Memory.Size, store)
		for lane := range lanes.Width {
			if mask>>lane&1 == 0 {
				continue
			}
			var v uint64
			if store {
				v = w.element(f, lane, i)
			}
			v = w.accessWord(pc, in, &masks, lane, v, store)
			if !store {
				w.setElement(f, lane, i, v)
			}
		}
	}
}

func (w *warp) countWmma(pc int, masks *[program.Const + 1]uint32, n int, store bool) {
	c := &w.block.counters
	global, shared := &c.GlobalLoads, &c.SharedLoads
	if store {
		global, shared = &c.GlobalStores, &c.SharedStores
	}
	if g := masks[program.Global]; g != 0 {
		w.block.countGlobal(global, pc, &w.at, g, n)
	}
	if s := masks[program.Shared]; s != 0 {
		w.block.countShared(shared, pc, &w.at, s, n)
	}
}

// accessWord reads or writes the element of a lane at its address.
func (w *warp) accessWord(pc int, in *program.Inst, masks *[program.Const + 1]uint32, lane int, v uint64, store bool) uint64 {
	b, at, n := w.block, w.at[lane], in.Memory.Size
	var data []byte
	switch bit := uint32(1) << lane; {
	case masks[program.Shared]&bit != 0:
		if !w.sharedBounds(in, at, n, n, lane) {
			return 0
		}
		data = b.shared[at:]
		switch {
		case b.checked && store:
			w.writeShared(in, uint32(at), n, lane, false, fetch(data, n) == v)
		case b.checked:
			w.readShared(in, uint32(at), n, lane)
		}
	case masks[program.Global]&bit != 0:
		var a *memory.Allocation
		if a = w.globalBounds(pc, in, at, n, n, lane, store); a == nil {
			return 0
		}
		from := int64(at - a.Base)
		data = a.Data[from:]
		if store {
			w.globalWrite(in, a, from, n, lane, false, fetch(data, n) == v)
		} else {
			w.globalRead(in, a, from, n, lane, false)
		}
	default:
		b.report(in, w, lane, verdict.Finding{Kind: verdict.OutOfBounds, Space: program.Local.String(), Address: at, Bytes: n,
			Detail: "wmma works on global and shared memory"}, "")
		return 0
	}
	if store {
		put(data, n, v)
		return 0
	}
	return fetch(data, n)
}

// wmmaMultiply is D = A·B + C, computed as mma does.
func (w *warp) wmmaMultiply(m *program.Wmma) {
	k := m.A.Columns
	a, b := lanes.NewFactors(m.A.Rows*k), lanes.NewFactors(m.B.Columns*k)
	least := smallestExponent(m.A.Type)
	gather := func(f *program.Fragment, to lanes.Factors, index func(row, column int) int) {
		decode := decoder(f.Type)
		for lane := range lanes.Width {
			for i := range f.PerLane() {
				v := w.element(f, lane, i)
				x := math.Float64frombits(v)
				if f.Type != "f64" {
					x = decode(uint32(v))
				}
				row, column := position(f, lane, i)
				to.Set(index(row, column), x, least)
			}
		}
	}
	gather(&m.A, a, func(row, column int) int { return row*k + column })
	gather(&m.B, b, func(row, column int) int { return column*k + row })
	for lane := range lanes.Width {
		for i := range m.D.PerLane() {
			row, column := position(&m.D, lane, i)
			c := w.element(&m.C, lane, i)
			w.setElement(&m.D, lane, i, m.Sum(a.Slice(row*k, k), b.Slice(column*k, k), c))
		}
	}
}
