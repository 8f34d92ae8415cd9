package exec

import (
	"os"
	"slices"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/impl/native"
	"mage/kernels"
	"mage/timing"
)

// rustHost is the built program: MAGE_RUST_HOST, on machines without a Rust
// compiler, or one built here.
func rustHost(t *testing.T) Declaration {
	t.Helper()
	path := os.Getenv("MAGE_RUST_HOST")
	if path == "" {
		return buildRustHost(t)
	}
	all, err := Load("../../rust/host")
	if err != nil {
		t.Fatal(err)
	}
	all[0].Program, all[0].Build = path, nil
	return all[0]
}

// TestGPURustHost takes the program through the gate on a GPU, at every small and
// default shape, and times it beside the same kernels on the driver path.
func TestGPURustHost(t *testing.T) {
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	program := New(testContext, Options{}, []Declaration{rustHost(t)})[0]
	direct := onDriver(t, dev)
	for _, c := range contract.All() {
		for _, d := range []contract.Dims{c.Small(), c.Default()} {
			set, fresh := generate(t, c, d, 1), generate(t, c, d, 2)
			op, err := program.Open(c, d, set.Tensors)
			if err != nil {
				t.Fatal(err)
			}
			b := bench{set: set, fresh: fresh, op: op.(*operation)}
			for _, stage := range []string{gate.Before, gate.Challenge} {
				if _, err := b.check(stage); err != nil {
					t.Errorf("%s %v: %v", c.Name(), d, err)
				}
			}
			beside, err := direct.Open(c, d, set.Tensors)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []string{"span", "batch:100", "graph:100"} {
				if err := gate.Prepare(op); err != nil {
					t.Fatal(err)
				}
				ours, driver := median(t, op, mode), median(t, beside, mode)
				if _, err := b.check(gate.LeftBehind); err != nil {
					t.Errorf("%s %v %s: %v", c.Name(), d, mode, err)
				}
				t.Logf("%s %v %s: exec %.2f µs, driver %.2f µs", c.Name(), d, mode, ours, driver)
			}
			for _, o := range []impl.Operation{op, beside} {
				if err := o.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// onDriver opens rust/first in this process.
func onDriver(t *testing.T, dev *cuda.Device) impl.Implementation {
	t.Helper()
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(timer.Close)
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	ks = slices.DeleteFunc(ks, func(k kernels.Kernel) bool { return k.Implementation != "rust/first" })
	all, err := native.New(native.Options{Device: dev, Stream: stream, Timer: timer}, ks)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func median(t *testing.T, op impl.Operation, mode string) float64 {
	t.Helper()
	req := request(t, mode)
	req.Warmup, req.Samples = 20, 50
	r, err := op.Measure(req)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.Samples)
	return r.Samples[len(r.Samples)/2]
}
