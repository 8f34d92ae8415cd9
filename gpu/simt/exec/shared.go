package exec

import (
	"fmt"

	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// sharedShadow tells which thread accessed each granule of shared memory last, and
// when by its warp's clock. It is exact for barriers of every kind: an access is
// ordered before another if the other's warp has seen its time.
type sharedShadow struct {
	shift uint
	// wrote holds one record per granule, read one per warp and granule.
	wrote []uint32
	read  [][]uint32
	// pending counts the copies of cp.async in flight to a granule.
	pending []uint16
}

// A record of a write is a set bit, clock, a bit for atomics, warp and lane; of a
// read, clock, a bit for more than one lane, and lane. 0 is no access.
const (
	writtenBit = 1 << 31
	atomicBit  = 1 << 10
	manyBit    = 1 << 5
	maxClock   = 1 << 20
)

func (s *sharedShadow) init(bytes int, shift uint, warps int, async bool) {
	s.shift = shift
	n := bytes>>shift + 1
	s.wrote = make([]uint32, n)
	s.read = make([][]uint32, warps)
	for i := range s.read {
		s.read[i] = make([]uint32, n)
	}
	if async {
		s.pending = make([]uint16, n)
	}
}

func (s *sharedShadow) reset() {
	clear(s.wrote)
	for _, r := range s.read {
		clear(r)
	}
	clear(s.pending)
}

// forgetTimes keeps only what has been written at all.
func (s *sharedShadow) forgetTimes() {
	for i := range s.wrote {
		s.wrote[i] &= writtenBit
	}
	for _, r := range s.read {
		clear(r)
	}
}

// ordered reports whether what another lane did at a time comes before what this
// one does now.
func (w *warp) ordered(warp int, lane, mine int, clock uint32) bool {
	if warp == w.id {
		return lane == mine || clock < w.clock
	}
	return w.seen[warp] >= clock
}

// afterWrite checks an access against the last write of its granule.
func (w *warp) afterWrite(g uint32, lane int, atomic bool) (warp, other int, conflict bool) {
	v := w.block.shadow.wrote[g]
	if v<<1 == 0 || atomic && v&atomicBit != 0 {
		return 0, 0, false
	}
	warp, other = int(v>>5&31), int(v&31)
	return warp, other, !w.ordered(warp, other, lane, v>>11&(maxClock-1))
}

// readShared checks and notes that a lane reads bytes at an offset.
func (w *warp) readShared(in *program.Inst, at uint32, n, lane int) {
	b := w.block
	s := &b.shadow
	for g := at >> s.shift; g <= (at+uint32(n)-1)>>s.shift; g++ {
		v := s.wrote[g]
		if s.pending != nil && s.pending[g] > 0 {
			b.report(in, w, lane, w.sharedFinding(verdict.MissingWait, g, n, "shared memory is read before the cp.async that fills it was waited for"), "")
		} else if v == 0 {
			b.report(in, w, lane, w.sharedFinding(verdict.UnwrittenShared, g, n, "shared memory that nothing has written is read"), "")
		} else if warp, other, conflict := w.afterWrite(g, lane, false); conflict {
			w.sharedRace(in, g, n, lane, "read after write", "wrote", warp, other)
		}
		r := &s.read[w.id][g]
		me := w.clock<<6 | uint32(lane)
		if old := *r; old>>6 == w.clock && old&31 != uint32(lane) {
			me = old | manyBit
		}
		*r = me
	}
}

// writeShared checks and notes that a lane writes bytes at an offset. A write of
// what is there already cannot be told from none by anybody: it does not race with
// another write.
func (w *warp) writeShared(in *program.Inst, at uint32, n, lane int, atomic, same bool) {
	b := w.block
	s := &b.shadow
	for g := at >> s.shift; g <= (at+uint32(n)-1)>>s.shift; g++ {
		if warp, other, conflict := w.afterWrite(g, lane, atomic); conflict && !same {
			w.sharedRace(in, g, n, lane, "write after write", "wrote", warp, other)
		}
		if s.pending != nil && s.pending[g] > 0 {
			b.report(in, w, lane, w.sharedFinding(verdict.MissingWait, g, n, "shared memory is written before the cp.async that fills it was waited for"), "")
		}
		for warp := range s.read {
			v := s.read[warp][g]
			if v == 0 {
				continue
			}
			other := int(v & 31)
			ordered := w.ordered(warp, other, lane, v>>6)
			if warp == w.id && v&manyBit != 0 {
				ordered = v>>6 < w.clock
			}
			if !ordered {
				w.sharedRace(in, g, n, lane, "write after read", "read", warp, other)
			}
			if warp == w.id || ordered {
				s.read[warp][g] = 0
			}
		}
		s.wrote[g] = writtenBit | w.clock<<11 | uint32(w.id)<<5 | uint32(lane)
		if atomic {
			s.wrote[g] |= atomicBit
		}
	}
}

func (w *warp) sharedFinding(k verdict.Kind, g uint32, n int, detail string) verdict.Finding {
	return verdict.Finding{Kind: k, Space: program.Shared.String(), Address: uint64(g) << w.block.shadow.shift, Bytes: n, Detail: detail}
}

func (w *warp) sharedRace(in *program.Inst, g uint32, n, lane int, what, did string, warp, other int) {
	b := w.block
	t := b.thread(&b.warps[warp], other)
	b.report(in, w, lane, w.sharedFinding(verdict.SharedRace, g, n,
		fmt.Sprintf("race in shared memory, %s: thread (%d,%d,%d) %s it without a barrier between", what, t[0], t[1], t[2], did)), what)
}
