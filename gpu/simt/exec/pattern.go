package exec

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// pattern remembers what an instruction's accesses cost, by the distances of its
// lanes' addresses: most instructions access the same pattern again and again, at
// another place.
type pattern struct {
	mask uint32
	// low are the bits of the first address that the cost depends on.
	low      uint64
	distance [lanes.Width]uint32
	cost     int64
	ideal    int64
}

// matches reports whether an access has the pattern, up to its place.
func (p *pattern) matches(at *[lanes.Width]uint64, mask uint32, within uint64) bool {
	if p.mask != mask {
		return false
	}
	first := at[firstLane(mask)&31]
	if first&within != p.low {
		return false
	}
	var differ uint32
	for i, a := range at {
		differ |= (uint32(a-first) ^ p.distance[i]) & -(mask >> i & 1)
	}
	return differ == 0
}

func (p *pattern) remember(at *[lanes.Width]uint64, mask uint32, within uint64) {
	first := at[firstLane(mask)&31]
	p.mask, p.low = mask, first&within
	for i, a := range at {
		p.distance[i] = uint32(a - first)
		if far := a - first; mask>>i&1 != 0 && uint64(uint32(far)) != far && uint64(int64(int32(far))) != far {
			p.mask = 0 // too far apart to be told by 32 bits
			return
		}
	}
}

// countGlobal adds an access of n bytes per lane by the instruction at pc.
func (b *block) countGlobal(t *verdict.Traffic, pc int, at *[lanes.Width]uint64, mask uint32, n int) {
	if b.sites == nil {
		b.addGlobal(t, pc, at, mask, n)
		return
	}
	before := *t
	b.addGlobal(t, pc, at, mask, n)
	s := &b.sites[pc]
	s.distance(at, mask)
	s.Global.Add(t.Since(before))
}

func (b *block) addGlobal(t *verdict.Traffic, pc int, at *[lanes.Width]uint64, mask uint32, n int) {
	p := b.patternAt(pc)
	if mask == 0 || !p.matches(at, mask, sectorBytes-1) {
		before := *t
		countRequest(t, at, mask, n)
		if mask != 0 {
			p.remember(at, mask, sectorBytes-1)
			p.cost, p.ideal = t.Sectors-before.Sectors, t.Ideal-before.Ideal
		}
		return
	}
	t.Requests++
	t.Sectors += p.cost
	t.Ideal += p.ideal
	t.Bytes += lanesOf(mask) * int64(n)
}

// countShared is countGlobal for shared memory, whose banks repeat every word.
func (b *block) countShared(c *verdict.Banks, pc int, at *[lanes.Width]uint64, mask uint32, n int) {
	if b.sites == nil {
		b.addShared(c, pc, at, mask, n)
		return
	}
	before := *c
	b.addShared(c, pc, at, mask, n)
	s := &b.sites[pc]
	s.distance(at, mask)
	s.Shared.Add(c.Since(before))
}

func (b *block) addShared(c *verdict.Banks, pc int, at *[lanes.Width]uint64, mask uint32, n int) {
	p := b.patternAt(pc)
	if mask == 0 || !p.matches(at, mask, 3) {
		before := *c
		serve(c, at, mask, n, b.code[pc].Kind == program.Load)
		if mask != 0 {
			p.remember(at, mask, 3)
			p.cost, p.ideal = c.Wavefronts-before.Wavefronts, c.Ideal-before.Ideal
		}
		return
	}
	c.Requests++
	c.Wavefronts += p.cost
	c.Ideal += p.ideal
	c.Bytes += lanesOf(mask) * int64(n)
}

func (b *block) patternAt(pc int) *pattern {
	if b.patterns[pc] == nil {
		b.patterns[pc] = &pattern{}
	}
	return b.patterns[pc]
}
