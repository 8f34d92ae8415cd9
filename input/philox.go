package input

import (
	"fmt"
	"math/bits"
)

// philox is Philox4x32-10, a counter-based generator: the 128-bit output is a
// pure function of a 128-bit counter and a 64-bit key, so any element of any
// buffer can be computed alone, in any order, on any number of cores.
//
// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3.
// SC '11, https://doi.org/10.1145/2063384.2063405.
func philox(ctr [4]uint32, key [2]uint32) [4]uint32 {
	const (
		mul0, mul1 = 0xD2511F53, 0xCD9E8D57
		weyl0      = 0x9E3779B9 // golden ratio
		weyl1      = 0xBB67AE85 // √3 − 1
		rounds     = 10
	)
	c0, c1, c2, c3 := ctr[0], ctr[1], ctr[2], ctr[3]
	k0, k1 := key[0], key[1]
	for range rounds {
		p0 := uint64(mul0) * uint64(c0)
		p1 := uint64(mul1) * uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += weyl0
		k1 += weyl1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// stream is an unlimited sequence of 64-bit draws that is independent of every
// stream with another seed or name.
type stream struct {
	key  [2]uint32
	name [2]uint32 // the upper half of the counter
}

// newStream names a stream. The name itself, up to 8 bytes, becomes half of the
// counter, so two names can never share a sequence.
func newStream(seed uint64, name string) (stream, error) {
	if name == "" || len(name) > 8 {
		return stream{}, fmt.Errorf("stream name %q must have 1 to 8 bytes", name)
	}
	var id uint64
	for i := range len(name) {
		id |= uint64(name[i]) << (8 * i)
	}
	return stream{
		key:  [2]uint32{uint32(seed), uint32(seed >> 32)},
		name: [2]uint32{uint32(id), uint32(id >> 32)},
	}, nil
}

// pair returns draws 2i and 2i+1, which share one Philox block.
func (s stream) pair(i uint64) (uint64, uint64) {
	w := philox([4]uint32{uint32(i), uint32(i >> 32), s.name[0], s.name[1]}, s.key)
	return uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32
}

// draw returns draw i.
func (s stream) draw(i uint64) uint64 {
	a, b := s.pair(i / 2)
	if i%2 == 0 {
		return a
	}
	return b
}

// below returns draw i scaled to [0, n) by taking the upper half of the 128-bit
// product. Without rejection every element consumes exactly one draw; the bias
// is below n/2⁶⁴.
func (s stream) below(i, n uint64) uint64 {
	hi, _ := bits.Mul64(s.draw(i), n)
	return hi
}
