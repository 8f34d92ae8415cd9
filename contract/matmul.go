package contract

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"mage/tensor"
)

// Matmul is the dense product C_ij = Σ_k A_ik B_kj, with a: M×K, b: K×N and
// out: M×N.
type Matmul struct{ fp32 }

func (Matmul) Name() string       { return "matmul" }
func (Matmul) DimNames() []string { return []string{"M", "N", "K"} }
func (Matmul) Default() Dims      { return Dims{"M": 1024, "N": 1024, "K": 1024} }
func (Matmul) Small() Dims        { return Dims{"M": 17, "N": 19, "K": 23} }

func (c Matmul) CheckDims(d Dims) error { return checkDims(c, d, "") }

// Inputs returns a: M×K and b: K×N.
func (Matmul) Inputs(d Dims) []tensor.Spec {
	return []tensor.Spec{f32("a", d["M"], d["K"]), f32("b", d["K"], d["N"])}
}

// Output returns out: M×N.
func (Matmul) Output(d Dims) tensor.Spec { return f32("out", d["M"], d["N"]) }

func (c Matmul) CheckInputs(d Dims, in Tensors) error { return checkInputs(c, d, in) }

// Reference multiplies in float64 with gonum's own dgemm, which uses every core
// and whose result does not depend on their number.
func (Matmul) Reference(d Dims, in Tensors) []float64 {
	m, n, k := d["M"], d["N"], d["K"]
	out := make([]float64, m*n)
	gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k,
		1, float64s(in["a"]), k, float64s(in["b"]), n, 0, out, n)
	return out
}

// FLOPs is 2·M·N·K: a multiplication and an addition per term.
func (Matmul) FLOPs(d Dims) float64 {
	return 2 * float64(d["M"]) * float64(d["N"]) * float64(d["K"])
}

// CompulsoryBytes is 4·(M·K + K·N + M·N).
func (c Matmul) CompulsoryBytes(d Dims, _ Tensors) int64 { return denseBytes(c, d) }
