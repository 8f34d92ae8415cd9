package input

import (
	"fmt"

	"mage/contract"
	"mage/tensor"
)

// DefaultSeed is the seed of a case that states none.
const DefaultSeed = 20260910

// Case is a contract at one shape, input distribution and seed.
type Case struct {
	Contract contract.Contract
	Dims     contract.Dims
	// Distribution is one of Distributions; "" means the default one.
	Distribution string
	Seed         uint64
}

// Set is the inputs of a case. It always satisfies the contract's CheckInputs.
type Set struct {
	Case
	Tensors contract.Tensors
	SHA256  map[string]string // of each tensor's bytes, lower-case hex, by buffer name
}

// Generate makes the input set of a case. Equal cases give equal bytes,
// everywhere. The error is a *contract.Error for invalid dims, an
// *UnknownDistributionError for an unknown distribution.
func Generate(c Case) (Set, error) {
	name := c.Contract.Name()
	if c.Distribution == "" {
		c.Distribution = DefaultDistribution(name)
	}
	if err := CheckDistribution(name, c.Distribution); err != nil {
		return Set{}, err
	}
	if err := c.Contract.CheckDims(c.Dims); err != nil {
		return Set{}, err
	}
	in := contract.Tensors{}
	for _, spec := range c.Contract.Inputs(c.Dims) {
		t := tensor.New(spec)
		in[spec.Name] = t
		if spec.DType != tensor.F32 {
			continue // the graph below
		}
		s, err := newStream(c.Seed, spec.Name)
		if err != nil {
			return Set{}, fmt.Errorf("generating %s input %s: %w", name, spec.Name, err)
		}
		switch {
		case c.Distribution == Constant && spec.Name == "a":
			fillConstant(t, s, standardDeviation)
		case c.Distribution == Wide && spec.Name == "a":
			fillNormal(t, s, wideDeviation)
		default:
			fillNormal(t, s, standardDeviation)
		}
	}
	if _, graph := in["rowptr"]; graph {
		if err := fillGraph(in["rowptr"], in["indices"], c.Dims["N"], c.Dims["E"], c.Distribution, c.Seed); err != nil {
			return Set{}, fmt.Errorf("generating %s graph: %w", name, err)
		}
	}
	if err := c.Contract.CheckInputs(c.Dims, in); err != nil {
		return Set{}, fmt.Errorf("generated inputs break their own contract: %w", err)
	}
	return Set{Case: c, Tensors: in, SHA256: hashes(in)}, nil
}

func hashes(in contract.Tensors) map[string]string {
	h := make(map[string]string, len(in))
	for name, t := range in {
		h[name] = t.SHA256()
	}
	return h
}
