package native

import (
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/input"
)

// What Prepare describes is, opened elsewhere, the operation that Open makes.
func TestPreparedKernelsAreTheSameOperation(t *testing.T) {
	d := newFakeDevice()
	i := open(t, Options{Device: d}, builtinOf(t, "cuda/first"))
	for _, c := range contract.All() {
		for _, test := range casesOf(t, c, "small") {
			in := test.inputs(t, input.DefaultSeed)
			p, err := i.Prepare(c, test.dims)
			if err != nil {
				t.Fatal(err)
			}
			op, err := OpenPrepared(i.options, c, test.dims, in, p)
			if err != nil {
				t.Fatal(err)
			}
			test.passGate(t, op, in)
			own := openCase(t, i, test, in)
			if a, b := op.Identity(), own.Identity(); a.BinarySHA256 != b.BinarySHA256 || a.SourceSHA256 != b.SourceSHA256 || a.Entry != b.Entry {
				t.Errorf("%v: %+v, want %+v", test, a, b)
			}
			op.Close()
			own.Close()
		}
	}
	if len(d.memory) > 0 || d.modules != 0 {
		t.Errorf("left behind: %d allocations, %d modules", len(d.memory), d.modules)
	}
}

func TestPreparedKernelsAreCheckedAndGated(t *testing.T) {
	d := newFakeDevice()
	i := open(t, Options{Device: d}, builtinOf(t, "cuda/first"))
	test := small("gelu")
	in := test.inputs(t, input.DefaultSeed)
	p, err := i.Prepare(test.contract, test.dims)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPrepared(i.options, test.contract, contract.Dims{"R": 0, "D": 1}, in, p); err == nil {
		t.Error("opened dims that are none")
	}
	if _, err := OpenPrepared(i.options, test.contract, contract.Dims{"R": 4, "D": 257}, in, p); err == nil {
		t.Error("opened inputs of another shape")
	}
	if d.allocs != 0 {
		t.Errorf("%d allocations before the checks", d.allocs)
	}
	// Arguments in another order are another kernel: the gate says so.
	params := p.Plan.Launches[0].Params
	params[0], params[1] = params[1], params[0]
	op, err := OpenPrepared(i.options, test.contract, test.dims, in, p)
	if err == nil {
		s := gate.Spec{Contract: test.contract, Dims: test.dims, Inputs: in, Stage: gate.Before, Reference: test.contract.Reference(test.dims, in)}
		if r, err := gate.Check(op, s); err == nil && r.Passed {
			t.Error("the gate accepts swapped arguments")
		}
		op.Close()
	}
}
