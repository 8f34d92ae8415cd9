package native

import (
	"os"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/input"
	"mage/kernels"
	"mage/timing"
	"mage/unavailable"
)

// onGPU opens the first GPU with its compiler, if there is one, and a timer.
func onGPU(t *testing.T) Options {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(timer.Close)
	o := Options{Device: dev, Stream: stream, Timer: timer}
	if compiler, err := cuda.OpenNVRTC(""); err != nil {
		t.Log(err)
	} else {
		o.Compiler = compiler
	}
	return o
}

// withAndWithoutCompiler runs f with NVRTC, and with the committed PTX.
func withAndWithoutCompiler(t *testing.T, f func(*testing.T, Options)) {
	t.Run("NVRTC", func(t *testing.T) {
		o := onGPU(t)
		if o.Compiler == nil {
			t.Skip("no NVRTC")
		}
		f(t, o)
	})
	t.Run("committed PTX", func(t *testing.T) {
		o := onGPU(t)
		o.Compiler = nil
		f(t, o)
	})
}

func TestGPUEveryBuiltinPassesTheGate(t *testing.T) {
	families := []string{"small", "tails"}
	if !testing.Short() {
		families = append(families, "default")
	}
	withAndWithoutCompiler(t, func(t *testing.T, o Options) {
		for _, name := range first {
			i := open(t, o, builtinOf(t, name))
			for _, c := range contract.All() {
				worst := 0.0
				for _, test := range casesOf(t, c, families...) {
					in := test.inputs(t, input.DefaultSeed)
					op := openCase(t, i, test, in)
					worst = max(worst, test.passGate(t, op, in).MaxAbsError)
					if err := op.Close(); err != nil {
						t.Error(err)
					}
				}
				t.Logf("%s %s: largest absolute error %.3g", name, c.Name(), worst)
			}
		}
	})
}

func TestGPUExampleKernelPassesTheGate(t *testing.T) {
	withAndWithoutCompiler(t, func(t *testing.T, o Options) {
		k := example(t)
		vector := open(t, o, []kernels.Kernel{k})
		for v := range k.Space() {
			if o.Compiler == nil && v["BLOCK"] != k.Defaults()["BLOCK"] {
				continue // the committed PTX has the defaults only
			}
			for _, d := range []contract.Dims{{"R": 1, "D": 4}, {"R": 33, "D": 60}, {"R": 64, "D": 768}} {
				test := testCase{"example", contract.GELU{}, d, "normal"}
				in := test.inputs(t, input.DefaultSeed)
				op, err := vector.OpenVariant(test.contract, d, in, v)
				if err != nil {
					t.Fatal(err)
				}
				test.passGate(t, op, in)
				if err := op.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// TestGPUMeasuresInEveryMode also gates what each timed region left behind.
func TestGPUMeasuresInEveryMode(t *testing.T) {
	for _, name := range first {
		t.Run(name, func(t *testing.T) { measureInEveryMode(t, name) })
	}
}

func measureInEveryMode(t *testing.T, name string) {
	o := onGPU(t)
	i := open(t, o, builtinOf(t, name))
	for _, c := range contract.All() {
		test := small(c.Name())
		in := test.inputs(t, input.DefaultSeed)
		op := openCase(t, i, test, in)
		id := op.Identity()
		t.Logf("%s: %s, %s, %d registers, spills %v/%v", c.Name(), id.Compiler, id.BinaryKind, id.Resources.Registers, *orZero(id.SpillLoad), *orZero(id.SpillStor))
		for _, name := range []string{"span", "batch:10", "graph:10", "submit", "latency", "kernel"} {
			mode, err := timing.ParseMode(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := gate.Prepare(op); err != nil {
				t.Fatal(err)
			}
			r, err := op.Measure(timing.Request{Mode: mode, Cache: timing.Hot, Warmup: 3, Samples: 20, MinSamples: 20})
			if u, ok := unavailable.As(err); ok {
				t.Logf("%s %s: %v", c.Name(), name, u)
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", c.Name(), name, err)
			}
			if len(r.Samples) != 20 {
				t.Errorf("%s %s: %d samples", c.Name(), name, len(r.Samples))
			}
			test.check(t, op, gate.Spec{Inputs: in, Stage: gate.LeftBehind, Seed: input.DefaultSeed})
		}
		if err := op.Close(); err != nil {
			t.Error(err)
		}
	}
}

func openCase(t *testing.T, i *Implementation, test testCase, in contract.Tensors) impl.Operation {
	t.Helper()
	op, err := i.Open(test.contract, test.dims, in)
	if err != nil {
		t.Fatalf("%v: %v", test, err)
	}
	return op
}

func example(t *testing.T) kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(os.DirFS("../../examples/kernels"), "examples/kernels")
	if err != nil {
		t.Fatal(err)
	}
	return ks[0]
}

func orZero(p *int) *int {
	if p == nil {
		return new(int)
	}
	return p
}
