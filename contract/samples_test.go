package contract

import (
	"math/rand/v2"
	"sort"

	"mage/tensor"
)

// sample makes deterministic inputs for d: normal values of deviation 0.25 and
// a graph with random row lengths (duplicates and empty rows come by chance).
func sample(c Contract, d Dims, seed uint64) Tensors {
	rng := rand.New(rand.NewPCG(seed, 1))
	in := Tensors{}
	for _, s := range c.Inputs(d) {
		t := tensor.New(s)
		switch s.Name {
		case "rowptr":
			cuts := make([]uint32, s.Len())
			for i := 1; i < len(cuts)-1; i++ {
				cuts[i] = uint32(rng.IntN(d["E"] + 1))
			}
			cuts[len(cuts)-1] = uint32(d["E"])
			sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
			t.PutUint32s(cuts)
		case "indices":
			v := make([]uint32, s.Len())
			for i := range v {
				v[i] = uint32(rng.IntN(d["N"]))
			}
			t.PutUint32s(v)
		default:
			v := make([]float32, s.Len())
			for i := range v {
				v[i] = float32(rng.NormFloat64() * 0.25)
			}
			t.PutFloat32s(v)
		}
		in[s.Name] = t
	}
	return in
}

// fill sets every element of a float32 input.
func fill(t tensor.Tensor, value float32) {
	v := make([]float32, t.Len())
	for i := range v {
		v[i] = value
	}
	t.PutFloat32s(v)
}
