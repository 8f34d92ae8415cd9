package native

import (
	"slices"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/impl"
	"mage/input"
	"mage/kernels"
)

// testCase is a shape and how its inputs are distributed.
type testCase struct {
	name         string
	contract     contract.Contract
	dims         contract.Dims
	distribution string
}

// casesOf returns the shapes of the families, then the edge cases.
func casesOf(t *testing.T, c contract.Contract, families ...string) []testCase {
	t.Helper()
	var cases []testCase
	for _, family := range families {
		shapes, err := contract.Shapes(c, family)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range shapes {
			for _, distribution := range input.Distributions(c.Name()) {
				cases = append(cases, testCase{family, c, d, distribution})
			}
		}
	}
	for _, e := range contract.EdgeCases(c) {
		cases = append(cases, testCase{e.Name, c, e.Dims, e.Distribution})
	}
	return cases
}

func (c testCase) String() string {
	return c.contract.Name() + " " + c.dims.Format(c.contract.DimNames()) + " " + c.distribution
}

func (c testCase) inputs(t *testing.T, seed uint64) contract.Tensors {
	t.Helper()
	set, err := input.Generate(input.Case{Contract: c.contract, Dims: c.dims, Distribution: c.distribution, Seed: seed})
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return set.Tensors
}

// passGate opens nothing: it takes an open operation through the gate, with its
// own inputs and with fresh ones written in place.
func (c testCase) passGate(t *testing.T, op impl.Operation, in contract.Tensors) gate.Result {
	t.Helper()
	before := c.check(t, op, gate.Spec{Inputs: in, Stage: gate.Before, Seed: input.DefaultSeed})
	fresh := c.inputs(t, input.DefaultSeed+1)
	c.check(t, op, gate.Spec{Inputs: fresh, Stage: gate.Challenge, Seed: input.DefaultSeed + 1, Restore: in})
	return before
}

func (c testCase) check(t *testing.T, op impl.Operation, s gate.Spec) gate.Result {
	t.Helper()
	s.Contract, s.Dims = c.contract, c.dims
	s.Reference = c.contract.Reference(c.dims, s.Inputs)
	r, err := gate.Check(op, s)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	if err := r.Err(); err != nil {
		t.Errorf("%v, %s: %v", c, s.Stage, err)
	}
	return r
}

// builtin returns the kernels of cuda/first.
func builtin(t *testing.T) []kernels.Kernel {
	t.Helper()
	return builtinOf(t, "cuda/first")
}

// builtinOf returns the kernels of one built-in implementation.
func builtinOf(t *testing.T, implementation string) []kernels.Kernel {
	t.Helper()
	all, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	ks := slices.DeleteFunc(all, func(k kernels.Kernel) bool { return k.Implementation != implementation })
	if len(ks) == 0 {
		t.Fatalf("no kernel of %s", implementation)
	}
	return ks
}

// first are the built-in implementations with a kernel for every contract.
var first = []string{"cuda/first", "rust/first"}

// open makes implementations on a device and returns the only one.
func open(t *testing.T, o Options, ks []kernels.Kernel) *Implementation {
	t.Helper()
	if o.Stream == nil {
		s, err := o.Device.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		o.Stream = s
	}
	all, err := New(o, ks)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d implementations", len(all))
	}
	return all[0].(*Implementation)
}

func small(name string) testCase {
	c, err := contract.Find(name, contract.FP32)
	if err != nil {
		panic(err)
	}
	return testCase{"small", c, c.Small(), input.DefaultDistribution(name)}
}

var _ gpu.Device = (*fakeDevice)(nil)
