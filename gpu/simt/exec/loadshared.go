package exec

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
)

func (w *warp) loadShared(pc int, in *program.Inst, at *[lanes.Width]uint64, mask uint32) {
	b := w.block
	m := in.Memory
	n := m.Size * len(m.Elements)
	b.countShared(&b.counters.SharedLoads, pc, at, mask, n)
	if w.loadSharedWords(in, at, mask) {
		return
	}
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		if !w.sharedBounds(in, at[lane], n, n, lane) {
			w.receive(m, nothing[:], lane)
			continue
		}
		if b.checked && !m.Strong {
			w.readShared(in, uint32(at[lane]), n, lane)
		}
		w.receive(m, b.shared[at[lane]:], lane)
	}
}

// loadSharedWords is the path of most loads from shared memory: one 32-bit word
// per lane, in bounds, of granules that were written before the last barrier. It
// reports false if it is another, having done nothing that the full path will not
// do again.
func (w *warp) loadSharedWords(in *program.Inst, at *[lanes.Width]uint64, mask uint32) bool {
	b := w.block
	m := in.Memory
	s := &b.shadow
	if m.Size != 4 || m.Strong || b.checked && s.shift != 2 {
		return false
	}
	if len(m.Elements) != 1 {
		return w.loadSharedVectors(m, at, mask)
	}
	if m.Elements[0].Wide || m.Elements[0].Offset < 0 || len(b.shared) < 4 {
		return false
	}
	d := lanes.At[uint32](&w.file, m.Elements[0].Offset)
	shared := b.shared
	if !b.checked {
		for i, p := range at {
			if mask>>i&1 == 0 {
				continue
			}
			if p > uint64(len(shared))-4 || p&3 != 0 {
				return false
			}
			d[i] = little.Uint32(shared[p:])
		}
		return true
	}
	read, wrote, seen := s.read[w.id], s.wrote, w.seen
	clock := w.clock << 6
	last := ^uint64(0)
	for i, p := range at {
		if mask>>i&1 == 0 {
			continue
		}
		if p == last {
			d[i] = d[i-1]
			read[p>>2] |= manyBit
			continue
		}
		if p > uint64(len(shared))-4 || p&3 != 0 {
			return false
		}
		g := p >> 2
		v := wrote[g]
		if v == 0 || v>>11&(maxClock-1) > seen[v>>5&31] || s.pending != nil && s.pending[g] != 0 {
			return false // not written, or a race: the full path tells
		}
		me := clock | uint32(i)
		if old := read[g]; old>>6 == w.clock && old != me {
			me = old | manyBit
		}
		read[g] = me
		d[i] = little.Uint32(shared[p:])
		last = ^uint64(0)
		if mask == lanes.Full {
			last = p
		}
	}
	return true
}

// loadSharedVectors is loadSharedWords for vectors of words.
func (w *warp) loadSharedVectors(m *program.Memory, at *[lanes.Width]uint64, mask uint32) bool {
	b := w.block
	n := uint64(4 * len(m.Elements))
	var d [8]*[lanes.Width]uint32
	for k, e := range m.Elements {
		if k == len(d) || e.Wide || e.Offset < 0 {
			return false
		}
		d[k] = lanes.At[uint32](&w.file, e.Offset)
	}
	for i, p := range at {
		if mask>>i&1 == 0 {
			continue
		}
		if p > uint64(len(b.shared)) || uint64(len(b.shared))-p < n || p&(n-1) != 0 {
			return false
		}
		if b.checked && !w.readQuietly(uint32(p>>2), len(m.Elements), i) {
			return false
		}
		from := b.shared[p : p+n]
		for k := range m.Elements {
			d[k&7][i] = little.Uint32(from[4*k:])
		}
	}
	return true
}

// readQuietly notes that a lane reads n granules; it reports false if there is
// something to find.
func (w *warp) readQuietly(g uint32, n, lane int) bool {
	s := &w.block.shadow
	wrote, read := s.wrote[g:int(g)+n], s.read[w.id][g:int(g)+n]
	me := w.clock<<6 | uint32(lane)
	for k, v := range wrote {
		if v == 0 || v>>11&(maxClock-1) > w.seen[v>>5&31] || s.pending != nil && s.pending[int(g)+k] != 0 {
			return false
		}
		if old := read[k]; old>>6 == w.clock && old != me {
			read[k] = old | manyBit
		} else {
			read[k] = me
		}
	}
	return true
}
