package contract

// EdgeCase is a shape, and how its inputs are distributed, at which kernels are
// commonly wrong. The gate suite always holds all of them.
type EdgeCase struct {
	Name string // "one hub row"
	Dims Dims
	// Distribution names how the inputs are generated; package input defines it.
	Distribution string
}

// EdgeCases returns the edge cases of c.
func EdgeCases(c Contract) []EdgeCase {
	switch c.Name() {
	case "matmul":
		return []EdgeCase{
			{"one element", Dims{"M": 1, "N": 1, "K": 1}, "normal"},
			{"dot product", Dims{"M": 1, "N": 1, "K": 1025}, "normal"},
			{"outer product", Dims{"M": 33, "N": 65, "K": 1}, "normal"},
			{"one value", Dims{"M": 17, "N": 19, "K": 23}, "constant"},
		}
	case "gelu":
		return []EdgeCase{
			{"one element", Dims{"R": 1, "D": 1}, "normal"},
			{"single column", Dims{"R": 257, "D": 1}, "normal"},
			{"one value", Dims{"R": 3, "D": 257}, "constant"},
			{"saturated tails", Dims{"R": 5, "D": 513}, "wide"},
		}
	case "layernorm":
		return []EdgeCase{
			{"single feature", Dims{"R": 5, "D": 1}, "normal"},
			{"constant rows", Dims{"R": 3, "D": 257}, "constant"},
			{"constant single feature", Dims{"R": 1, "D": 1}, "constant"},
			{"two features", Dims{"R": 33, "D": 2}, "normal"},
		}
	case "triangle":
		return []EdgeCase{
			{"one element", Dims{"N": 1, "C": 1}, "normal"},
			{"one node, many channels", Dims{"N": 1, "C": 129}, "normal"},
			{"one value", Dims{"N": 7, "C": 5}, "constant"},
		}
	case "neighbor":
		return []EdgeCase{
			{"no edges", Dims{"N": 7, "F": 9, "E": 0}, "uniform"},
			{"no edges, one node", Dims{"N": 1, "F": 1, "E": 0}, "uniform"},
			{"duplicate edges", Dims{"N": 7, "F": 9, "E": 23}, "duplicates"},
			{"one hub row", Dims{"N": 65, "F": 33, "E": 1025}, "hub"},
			{"empty rows", Dims{"N": 129, "F": 5, "E": 63}, "empty-rows"},
			{"power-law degrees", Dims{"N": 257, "F": 17, "E": 2049}, "power-law"},
			{"one node, self edges", Dims{"N": 1, "F": 3, "E": 5}, "duplicates"},
		}
	}
	return nil
}
