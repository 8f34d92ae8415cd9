package input

import (
	"encoding/binary"
	"math"

	"mage/internal/parallel"
	"mage/tensor"
)

// The deviations are powers of two, so that scaling a deviate is exact.
const (
	standardDeviation = 0.25
	wideDeviation     = 8
)

// fillNormal sets element i to draw i of s as a normal deviate, in parallel.
func fillNormal(t tensor.Tensor, s stream, deviation float64) {
	const grain = 1 << 13 // even, because draws come in pairs
	parallel.For(t.Len(), grain, func(lo, hi int) {
		for i := lo; i < hi; i += 2 {
			d0, d1 := s.pair(uint64(i / 2))
			put(t, i, deviation*normal(d0))
			if i+1 < hi {
				put(t, i+1, deviation*normal(d1))
			}
		}
	})
}

// fillConstant sets every element to draw 0 of s as a normal deviate.
func fillConstant(t tensor.Tensor, s stream, deviation float64) {
	v := deviation * normal(s.draw(0))
	for i := range t.Len() {
		put(t, i, v)
	}
}

// put stores v, rounded to nearest even, as element i.
func put(t tensor.Tensor, i int, v float64) {
	binary.LittleEndian.PutUint32(t.Data[4*i:], math.Float32bits(float32(v)))
}
