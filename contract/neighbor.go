package contract

import (
	"mage/internal/parallel"
	"mage/tensor"
)

// Neighbor is the weighted sum of the features of a node's neighbours on a
// graph in compressed sparse rows: Y_if = Σ_{e in row i} w_e X_{s_e,f}, with
// a: N×F features (X), b: E weights (w), rowptr: N+1 and indices: E (s), and
// out: N×F. Row i holds the edges rowptr[i] ≤ e < rowptr[i+1]. Duplicate edges
// add, an empty row gives zero, and E may be zero.
type Neighbor struct{ fp32 }

func (Neighbor) Name() string       { return "neighbor" }
func (Neighbor) DimNames() []string { return []string{"N", "F", "E"} }
func (Neighbor) Default() Dims      { return Dims{"N": 4096, "F": 64, "E": 65536} }
func (Neighbor) Small() Dims        { return Dims{"N": 7, "F": 9, "E": 23} }

func (c Neighbor) CheckDims(d Dims) error { return checkDims(c, d, "E") }

// Inputs returns a: N×F, b: E, rowptr: N+1 and indices: E.
func (Neighbor) Inputs(d Dims) []tensor.Spec {
	return []tensor.Spec{f32("a", d["N"], d["F"]), f32("b", d["E"]), u32("rowptr", d["N"]+1), u32("indices", d["E"])}
}

// Output returns out: N×F.
func (Neighbor) Output(d Dims) tensor.Spec { return f32("out", d["N"], d["F"]) }

func (c Neighbor) CheckInputs(d Dims, in Tensors) error {
	if err := checkInputs(c, d, in); err != nil {
		return err
	}
	return checkGraph(c.Name(), in["rowptr"].Uint32s(), in["indices"].Uint32s(), d["N"])
}

// Reference sums each row's edges in their order, in float64, rows in parallel.
func (Neighbor) Reference(d Dims, in Tensors) []float64 {
	n, width := d["N"], d["F"]
	x, w := in["a"].Float32s(), in["b"].Float32s()
	rowptr, indices := in["rowptr"].Uint32s(), in["indices"].Uint32s()
	out := make([]float64, n*width)
	parallel.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y := out[i*width : (i+1)*width]
			for e := int(rowptr[i]); e < int(rowptr[i+1]); e++ {
				weight, s := float64(w[e]), int(indices[e])
				for f, v := range x[s*width : (s+1)*width] {
					y[f] += weight * float64(v)
				}
			}
		}
	})
	return out
}

// FLOPs is 2·E·F: a multiplication and an addition per edge and feature.
func (Neighbor) FLOPs(d Dims) float64 { return 2 * float64(d["E"]) * float64(d["F"]) }

// CompulsoryBytes is 4·(U·F + 2·E + (N+1) + N·F), where U counts the distinct
// rows that indices refers to: each is read once at least, others never need to
// be. It depends on the graph, so in must hold the indices.
func (c Neighbor) CompulsoryBytes(d Dims, in Tensors) int64 {
	seen := make([]bool, d["N"])
	distinct := int64(0)
	for _, s := range in["indices"].Uint32s() {
		if !seen[s] {
			seen[s] = true
			distinct++
		}
	}
	rest := int64(0)
	for _, s := range c.Inputs(d)[1:] {
		rest += int64(s.Bytes())
	}
	return distinct*int64(d["F"])*4 + rest + int64(c.Output(d).Bytes())
}
