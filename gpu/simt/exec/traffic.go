package exec

import (
	"math/bits"
	"slices"

	"mage/gpu/simt/lanes"
	"mage/gpu/verdict"
)

const sectorBytes = 32

// countRequest counts a warp's access of n bytes per lane.
func countRequest(t *verdict.Traffic, at *[lanes.Width]uint64, mask uint32, n int) {
	if mask == 0 {
		return
	}
	bytes := int64(bits.OnesCount32(mask) * n)
	sectors := countSectors(at, mask, n)
	t.Requests++
	t.Bytes += bytes
	t.Sectors += sectors
	t.Ideal += min(sectors, (bytes+sectorBytes-1)/sectorBytes)
}

// countSectors counts the distinct sectors of an access. Aligned accesses of up to
// 32 bytes lie in one sector each.
func countSectors(at *[lanes.Width]uint64, mask uint32, n int) int64 {
	var count int64
	last := ^uint64(0)
	rising := true
	for i, a := range at {
		if mask>>i&1 == 0 {
			continue
		}
		s := a / sectorBytes
		if s == last {
			continue
		}
		if last != ^uint64(0) && s < last {
			rising = false
			break
		}
		count++
		last = s
	}
	if rising {
		return count
	}
	var all [lanes.Width]uint64
	list := all[:0]
	for i, a := range at {
		if mask>>i&1 != 0 {
			list = append(list, a/sectorBytes)
		}
	}
	slices.Sort(list)
	return int64(len(slices.Compact(list)))
}

// serve counts a warp's access of n bytes per lane to shared memory. Lanes are
// served in groups whose bytes fill one wavefront of 128: all 32 lanes up to 4
// bytes each, 16 of 8 bytes, 8 of 16. Within a group, a wavefront carries one word
// of each of the 32 banks, to as many lanes as want it. With join, as for ld.shared,
// two groups are served as one if every lane of the warp shares its address with the
// next lane, or every lane with the next but one; a lane that stays out is no hindrance.
func serve(b *verdict.Banks, at *[lanes.Width]uint64, mask uint32, n int, join bool) {
	if mask == 0 {
		return
	}
	b.Requests++
	b.Bytes += int64(bits.OnesCount32(mask) * n)
	size := lanes.Width
	if n > 4 {
		size = 128 / n
		if join && (alike(at, mask, 1) || alike(at, mask, 2)) {
			size *= 2
		}
	}
	for from := 0; from < lanes.Width; from += size {
		if group := groupOf(mask, from, size); group != 0 {
			b.Wavefronts += wavefronts(at, group, n)
			b.Ideal++
		}
	}
}

// groupOf are the lanes of mask among size lanes from one on.
func groupOf(mask uint32, from, size int) uint32 {
	return mask >> from & uint32(uint64(1)<<size-1) << from
}

// alike reports whether lanes l and l^apart have one address wherever both are in
// the mask; apart is 1 or 2.
func alike(at *[lanes.Width]uint64, mask uint32, apart int) bool {
	first := [...]uint32{1: 0x5555_5555, 2: 0x3333_3333}[apart]
	for both := mask & (mask >> apart) & first; both != 0; both &= both - 1 {
		if i := bits.TrailingZeros32(both); at[i&31] != at[(i+apart)&31] {
			return false
		}
	}
	return true
}

// wavefronts is the largest number of distinct words that one bank must give.
func wavefronts(at *[lanes.Width]uint64, mask uint32, n int) int64 {
	var word [32]uint32
	var seen uint32
	conflict := false
	for rest := mask; rest != 0; rest &= rest - 1 {
		a := at[bits.TrailingZeros32(rest)&31]
		for w := uint32(a) >> 2; w <= (uint32(a)+uint32(n)-1)>>2; w++ {
			bank := w & 31
			if seen>>bank&1 == 0 {
				seen |= 1 << bank
				word[bank] = w
			} else if word[bank] != w {
				conflict = true
			}
		}
	}
	if !conflict {
		return 1
	}
	var words []uint32
	for i, a := range at {
		if mask>>i&1 != 0 {
			for w := uint32(a) >> 2; w <= (uint32(a)+uint32(n)-1)>>2; w++ {
				words = append(words, w)
			}
		}
	}
	slices.Sort(words)
	var count [32]int64
	var most int64
	for _, w := range slices.Compact(words) {
		count[w&31]++
		most = max(most, count[w&31])
	}
	return most
}
