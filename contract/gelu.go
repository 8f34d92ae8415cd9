package contract

import (
	"math"

	"mage/internal/parallel"
	"mage/tensor"
)

// GELU adds a bias and applies the tanh form of the Gaussian error linear unit:
// z = x + b, y = ½ z (1 + tanh(√(2/π) (z + 0.044715 z³))), with a: R×D (x),
// b: D and out: R×D. The formula is that of Hendrycks and Gimpel, "Gaussian
// Error Linear Units" (2016), section 2.
type GELU struct{ fp32 }

func (GELU) Name() string       { return "gelu" }
func (GELU) DimNames() []string { return []string{"R", "D"} }
func (GELU) Default() Dims      { return Dims{"R": 4096, "D": 768} }
func (GELU) Small() Dims        { return Dims{"R": 3, "D": 257} }

func (c GELU) CheckDims(d Dims) error { return checkDims(c, d, "") }

// Inputs returns a: R×D and the bias b: D.
func (GELU) Inputs(d Dims) []tensor.Spec {
	return []tensor.Spec{f32("a", d["R"], d["D"]), f32("b", d["D"])}
}

// Output returns out: R×D.
func (GELU) Output(d Dims) tensor.Spec { return f32("out", d["R"], d["D"]) }

func (c GELU) CheckInputs(d Dims, in Tensors) error { return checkInputs(c, d, in) }

// Reference evaluates the formula as it stands, in float64.
func (GELU) Reference(d Dims, in Tensors) []float64 {
	width := d["D"]
	a, b := in["a"].Float32s(), in["b"].Float32s()
	out := make([]float64, len(a))
	parallel.For(d["R"], max(1, grain/width), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, y := a[r*width:(r+1)*width], out[r*width:(r+1)*width]
			for i, v := range x {
				y[i] = gelu(float64(v) + float64(b[i]))
			}
		}
	})
	return out
}

func gelu(z float64) float64 {
	// √(2/π) = (2/√π)·(1/√2)
	const root = (2 / (math.SqrtPi)) / math.Sqrt2
	return 0.5 * z * (1 + math.Tanh(root*(z+0.044715*z*z*z)))
}

// FLOPs is 10·R·D: the bias, two multiplications for z³, one by 0.044715, one
// addition, one by √(2/π), tanh counted as one, the addition of 1, the product
// with ½, and the product with z.
func (GELU) FLOPs(d Dims) float64 { return 10 * float64(d["R"]) * float64(d["D"]) }

// CompulsoryBytes is 4·(2·R·D + D).
func (c GELU) CompulsoryBytes(d Dims, _ Tensors) int64 { return denseBytes(c, d) }
