package contract

import (
	"math"

	"mage/internal/parallel"
	"mage/tensor"
)

// Epsilon is added to the variance of LayerNorm before the square root.
const Epsilon = 1e-5

// LayerNorm normalises each row: with μ the row's mean and σ² the mean of
// (x − μ)² (centred, divisor D), y = (x − μ)/√(σ² + 1e-5) · γ + β, with
// a: R×D (x), b: D (γ), c: D (β) and out: R×D. The formula is that of Ba, Kiros
// and Hinton, "Layer Normalization" (2016), with the usual epsilon.
type LayerNorm struct{ fp32 }

func (LayerNorm) Name() string       { return "layernorm" }
func (LayerNorm) DimNames() []string { return []string{"R", "D"} }
func (LayerNorm) Default() Dims      { return Dims{"R": 4096, "D": 768} }
func (LayerNorm) Small() Dims        { return Dims{"R": 3, "D": 257} }

func (c LayerNorm) CheckDims(d Dims) error { return checkDims(c, d, "") }

// Inputs returns a: R×D, b: D (gamma) and c: D (beta).
func (LayerNorm) Inputs(d Dims) []tensor.Spec {
	return []tensor.Spec{f32("a", d["R"], d["D"]), f32("b", d["D"]), f32("c", d["D"])}
}

// Output returns out: R×D.
func (LayerNorm) Output(d Dims) tensor.Spec { return f32("out", d["R"], d["D"]) }

func (c LayerNorm) CheckInputs(d Dims, in Tensors) error { return checkInputs(c, d, in) }

// Reference takes two passes over each row in float64: a compensated mean, then
// the centred variance. Float32 rows of one repeated value have an exact mean,
// so their variance is exactly zero and the output is exactly beta.
func (LayerNorm) Reference(d Dims, in Tensors) []float64 {
	width := d["D"]
	a, gamma, beta := in["a"].Float32s(), in["b"].Float32s(), in["c"].Float32s()
	out := make([]float64, len(a))
	parallel.For(d["R"], max(1, grain/width), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, y := a[r*width:(r+1)*width], out[r*width:(r+1)*width]
			mean := compensatedMean(x)
			var squares float64
			for _, v := range x {
				c := float64(v) - mean
				squares += c * c
			}
			scale := 1 / math.Sqrt(squares/float64(width)+Epsilon)
			for i, v := range x {
				y[i] = (float64(v)-mean)*scale*float64(gamma[i]) + float64(beta[i])
			}
		}
	})
	return out
}

// compensatedMean sums by Neumaier's variant of Kahan's algorithm.
func compensatedMean(x []float32) float64 {
	var sum, lost float64
	for _, v := range x {
		term := float64(v)
		t := sum + term
		if math.Abs(sum) >= math.Abs(term) {
			lost += (sum - t) + term
		} else {
			lost += (term - t) + sum
		}
		sum = t
	}
	return (sum + lost) / float64(len(x))
}

// FLOPs is R·(7·D + 3): per element one each for the mean's sum, the centring,
// the square, the variance's sum, the scale, gamma and beta (a sum's D−1
// additions and its division make D); per row epsilon, root and reciprocal.
func (LayerNorm) FLOPs(d Dims) float64 {
	return float64(d["R"]) * (7*float64(d["D"]) + 3)
}

// CompulsoryBytes is 4·(2·R·D + 2·D).
func (c LayerNorm) CompulsoryBytes(d Dims, _ Tensors) int64 { return denseBytes(c, d) }
