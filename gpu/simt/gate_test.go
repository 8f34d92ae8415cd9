package simt_test

import (
	"os"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu/simt"
	"mage/gpu/simt/untimed"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
	"mage/kernels"
	"mage/timing"
	"mage/unavailable"
)

// laboratory opens the implementations of some kernels on a fresh device.
func laboratory(t testing.TB, o simt.Options, ks []kernels.Kernel) (*simt.Device, []impl.Implementation) {
	t.Helper()
	d, err := simt.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	all, err := native.New(native.Options{Device: d, Stream: s, Timer: untimed.Timer{}, DeviceID: "simt"}, ks)
	if err != nil {
		t.Fatal(err)
	}
	return d, all
}

func builtin(t testing.TB) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

type gateCase struct {
	contract     contract.Contract
	dims         contract.Dims
	distribution string
}

func cases(t testing.TB, c contract.Contract, families ...string) []gateCase {
	t.Helper()
	var all []gateCase
	for _, family := range families {
		shapes, err := contract.Shapes(c, family)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range shapes {
			all = append(all, gateCase{c, d, input.DefaultDistribution(c.Name())})
		}
	}
	for _, e := range contract.EdgeCases(c) {
		all = append(all, gateCase{c, e.Dims, e.Distribution})
	}
	return all
}

func (c gateCase) inputs(t testing.TB, seed uint64) contract.Tensors {
	t.Helper()
	set, err := input.Generate(input.Case{Contract: c.contract, Dims: c.dims, Distribution: c.distribution, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return set.Tensors
}

// pass takes an implementation through the gate, with its own inputs and with
// fresh ones.
func (c gateCase) pass(t testing.TB, i impl.Implementation) {
	t.Helper()
	in := c.inputs(t, input.DefaultSeed)
	op, err := i.Open(c.contract, c.dims, in)
	if _, lacking := unavailable.As(err); lacking {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	for _, s := range []gate.Spec{
		{Inputs: in, Stage: gate.Before, Seed: input.DefaultSeed},
		{Inputs: c.inputs(t, input.DefaultSeed+1), Stage: gate.Challenge, Seed: input.DefaultSeed + 1, Restore: in},
	} {
		s.Contract, s.Dims = c.contract, c.dims
		s.Reference = c.contract.Reference(c.dims, s.Inputs)
		r, err := gate.Check(op, s)
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%s %s, %s: %v", i.Name(), c.contract.Name(), c.dims.Format(c.contract.DimNames()), err)
		}
	}
	mode, err := timing.ParseMode("span")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Measure(timing.Request{Mode: mode}); err == nil {
		t.Error("the simulator measured time")
	} else if _, ok := unavailable.As(err); !ok {
		t.Errorf("measuring: %v", err)
	}
}

func passAll(t *testing.T, families ...string) {
	d, all := laboratory(t, simt.Options{}, builtin(t))
	for _, i := range all {
		for _, c := range contract.All() {
			t.Run(i.Name()+"/"+c.Name(), func(t *testing.T) {
				for _, g := range cases(t, c, families...) {
					g.pass(t, i)
				}
			})
		}
	}
	for _, f := range d.Findings() {
		t.Errorf("%s", f.Report())
	}
}

func TestBuiltinKernelsPassTheGate(t *testing.T) { passAll(t, "small", "tails") }

// TestDefaultShapesPassTheGate takes minutes of processor time.
func TestDefaultShapesPassTheGate(t *testing.T) {
	if os.Getenv("MAGE_LONG") == "" {
		t.Skip("set MAGE_LONG=1 to run the default shapes")
	}
	passAll(t, "default")
}
