package contract

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"mage/internal/parallel"
	"mage/tensor"
)

// Triangle is the triangle multiplicative update with outgoing edges, without
// its projections and gates: O_ijc = Σ_k A_ikc B_jkc, with a, b and out: N×N×C.
// It is the contraction of AlphaFold 2's algorithm 11 (Jumper et al. 2021,
// supplement), line 4.
type Triangle struct{ fp32 }

func (Triangle) Name() string       { return "triangle" }
func (Triangle) DimNames() []string { return []string{"N", "C"} }
func (Triangle) Default() Dims      { return Dims{"N": 128, "C": 32} }
func (Triangle) Small() Dims        { return Dims{"N": 7, "C": 5} }

func (c Triangle) CheckDims(d Dims) error { return checkDims(c, d, "") }

// Inputs returns a and b: N×N×C.
func (Triangle) Inputs(d Dims) []tensor.Spec {
	return []tensor.Spec{f32("a", d["N"], d["N"], d["C"]), f32("b", d["N"], d["N"], d["C"])}
}

// Output returns out: N×N×C.
func (Triangle) Output(d Dims) tensor.Spec { return f32("out", d["N"], d["N"], d["C"]) }

func (c Triangle) CheckInputs(d Dims, in Tensors) error { return checkInputs(c, d, in) }

// Reference multiplies A_c · B_cᵀ in float64 for each channel c, channels in
// parallel.
func (Triangle) Reference(d Dims, in Tensors) []float64 {
	n, channels := d["N"], d["C"]
	a, b := in["a"].Float32s(), in["b"].Float32s()
	out := make([]float64, n*n*channels)
	parallel.For(channels, 1, func(c, _ int) {
		ac, bc, oc := channel(a, c, channels), channel(b, c, channels), make([]float64, n*n)
		gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, ac, n, bc, n, 0, oc, n)
		for i, v := range oc {
			out[i*channels+c] = v
		}
	})
	return out
}

// channel gathers one channel of an N×N×C array as a widened N×N matrix.
func channel(v []float32, c, channels int) []float64 {
	out := make([]float64, len(v)/channels)
	for i := range out {
		out[i] = float64(v[i*channels+c])
	}
	return out
}

// FLOPs is 2·N³·C: a multiplication and an addition per term.
func (Triangle) FLOPs(d Dims) float64 {
	n := float64(d["N"])
	return 2 * n * n * n * float64(d["C"])
}

// CompulsoryBytes is 4·3·N²·C.
func (c Triangle) CompulsoryBytes(d Dims, _ Tensors) int64 { return denseBytes(c, d) }
