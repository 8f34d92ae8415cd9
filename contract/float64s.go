package contract

import (
	"mage/internal/parallel"
	"mage/tensor"
)

// ReferenceVersion identifies the algorithms behind Reference. It is part of
// the key of cached references: raise it with any change that may alter a bit.
const ReferenceVersion = 1

// float64s widens a float32 tensor.
func float64s(t tensor.Tensor) []float64 {
	v := t.Float32s()
	out := make([]float64, len(v))
	parallel.For(len(v), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = float64(v[i])
		}
	})
	return out
}
