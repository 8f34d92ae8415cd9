package contract

// Families lists the names that Shapes accepts.
func Families() []string {
	return []string{"default", "small", "medium", "large", "tails", "edge"}
}

// Shapes returns the shapes of c in a family, for sweeps:
//
//	default, small  the shape of that name
//	medium, large   launch-bound and bandwidth- or compute-bound on a large GPU
//	tails           sizes one below and above the tile and vector widths of kernels
//	edge            the shapes of EdgeCases, without their distributions
//
// The error for an unknown family is an *Error that names the nearest one.
func Shapes(c Contract, family string) ([]Dims, error) {
	switch family {
	case "default":
		return []Dims{c.Default()}, nil
	case "small":
		return []Dims{c.Small()}, nil
	case "medium", "large", "tails":
		return table(c, family), nil
	case "edge":
		var out []Dims
		seen := map[string]bool{}
		for _, e := range EdgeCases(c) {
			if key := e.Dims.Format(c.DimNames()); !seen[key] {
				seen[key] = true
				out = append(out, e.Dims)
			}
		}
		return out, nil
	}
	return nil, &Error{c.Name(), unknown("shape family", family, Families())}
}

// table holds the sizes of the families in the order of DimNames.
func table(c Contract, family string) []Dims {
	sizes := map[string]map[string][][]int{
		"matmul": {
			"medium": {{512, 512, 512}},
			"large":  {{2048, 2048, 2048}},
			"tails": {
				{15, 15, 15}, {17, 15, 16}, {16, 17, 1}, {1, 129, 33}, {129, 1, 31}, {31, 33, 17},
				{33, 31, 65}, {63, 65, 9}, {65, 63, 127}, {127, 129, 63}, {129, 127, 129}, {257, 255, 7},
			},
		},
		"gelu": {
			"medium": {{1024, 768}},
			"large":  {{16384, 4096}},
			"tails":  rowTails(),
		},
		"layernorm": {
			"medium": {{1024, 768}},
			"large":  {{16384, 4096}},
			"tails":  rowTails(),
		},
		"triangle": {
			"medium": {{64, 32}},
			"large":  {{256, 64}},
			"tails": {
				{1, 1}, {2, 3}, {15, 1}, {15, 17}, {16, 31}, {17, 15}, {17, 33}, {31, 4}, {33, 3},
				{63, 5}, {65, 7}, {65, 33},
			},
		},
		"neighbor": {
			"medium": {{1024, 64, 16384}},
			"large":  {{100000, 128, 1600000}},
			"tails": {
				{1, 1, 1}, {1, 33, 31}, {31, 1, 33}, {33, 3, 127}, {63, 31, 129}, {65, 33, 255},
				{127, 63, 257}, {129, 65, 1023}, {255, 127, 1025}, {257, 129, 63}, {1025, 5, 511},
			},
		},
	}
	var out []Dims
	for _, row := range sizes[c.Name()][family] {
		d := Dims{}
		for i, n := range c.DimNames() {
			d[n] = row[i]
		}
		out = append(out, d)
	}
	return out
}

// rowTails are R, D pairs whose rows miss vectors of 2 and 4, warps of 32 and
// blocks of 64 to 1024 by one.
func rowTails() [][]int {
	return [][]int{
		{1, 2}, {2, 3}, {3, 5}, {7, 15}, {5, 17}, {9, 31}, {15, 33}, {17, 63}, {3, 65}, {33, 127},
		{31, 129}, {5, 255}, {1, 257}, {65, 511}, {3, 513}, {2, 1023}, {63, 1025}, {1, 4097},
	}
}
