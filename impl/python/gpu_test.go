package python

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
	"mage/kernels"
	"mage/timing"
	"mage/unavailable"
)

// bench is a GPU with the Go laboratory on it, and a worker beside it.
type bench struct {
	worker  *Worker
	options native.Options
	first   *native.Implementation // cuda/first
}

// onGPU opens the first GPU, if there is one, in this process and in a worker
// whose Python (MAGE_TEST_PYTHON, else what Choose finds) has torch.
func onGPU(t *testing.T, o Options) bench {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	t.Cleanup(func() { dev.Close() })
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(timer.Close)
	b := bench{options: native.Options{Device: dev, Stream: stream, Timer: timer, DeviceID: "cuda:0"}}
	if compiler, err := cuda.OpenNVRTC(""); err == nil {
		b.options.Compiler = compiler
	}
	ks, err := kernels.Load(kernels.Builtin(), "built-in kernels")
	if err != nil {
		t.Fatal(err)
	}
	all, err := native.New(b.options, ks)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Name() == "cuda/first" {
			b.first = i.(*native.Implementation)
		}
	}
	b.worker = start(t, o)
	v, err := b.worker.Versions()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(v["torch"], "unavailable") || v["torch-gpu"] == "" {
		t.Skipf("skipped: %v", v)
	}
	t.Logf("versions %v", v)
	return b
}

// arms are all launch paths of everything, the Go driver's own first.
func (b bench) arms() []impl.Implementation {
	exported := b.worker.Triton(b.options.Device.Info())
	state := b.options.Device.State
	tuned := b.worker.TritonAutotuned(b.options.Device.Info())
	return append([]impl.Implementation{b.first, b.worker.CUDAPython(b.first, state), Driver(b.options, exported), b.worker.CUDAPython(exported, state),
		Driver(b.options, tuned), b.worker.CUDAPython(tuned, state)},
		append(b.compiled(state), b.worker.Implementations(state)...)...)
}

// compiled are the kernels of torch.compile over the launchers of others.
func (b bench) compiled(state func() (gpu.State, error)) []impl.Implementation {
	var all []impl.Implementation
	for _, name := range []string{"torch/compile", "torch/compile-max"} {
		k := b.worker.Compiled(name)
		all = append(all, Driver(b.options, k), b.worker.CUDAPython(k, state))
	}
	return all
}

// What Inductor generates for gelu is one kernel, which others can launch at any
// shape; so it is for layernorm at the default shape, while small ones may take it
// two; a matmul is a library's. Each compiles anew in the process where the export
// did: the time of the compilation is not that of a look-up.
func TestGPUKernelsOfInductor(t *testing.T) {
	b := onGPU(t, Options{})
	for _, name := range []string{"gelu", "layernorm"} {
		c, err := contract.Find(name, contract.FP32)
		if err != nil {
			t.Fatal(err)
		}
		for n, x := range cases(t, c, "default", "small", "tails") {
			var first impl.Identity
			lacking := 0
			for _, i := range append(b.compiled(nil)[:2], b.worker.implementation("torch/compile", nil)) {
				op, err := i.Open(x.contract, x.dims, x.in)
				if u, ok := unavailable.As(err); ok && name == "layernorm" && n > 0 && i.LaunchPath() != "inductor" && strings.HasSuffix(u.Reason, " kernels with intermediate results") {
					t.Log(u, x.dims)
					lacking++
					continue
				}
				if err != nil {
					t.Errorf("%s@%s %s %v: %v", i.Name(), i.LaunchPath(), name, x.dims, err)
					continue
				}
				x.pass(t, op, gate.Before, gate.Challenge)
				id := op.Identity()
				if first.BinarySHA256 == "" {
					first = id
				}
				if id.BinarySHA256 == "" || id.BinarySHA256 != first.BinarySHA256 || id.SourceSHA256 != first.SourceSHA256 || id.CompileMS != first.CompileMS || id.Entry != first.Entry {
					t.Errorf("%s@%s %s %v: %+v, want the kernel of %+v", i.Name(), i.LaunchPath(), name, x.dims, id, first)
				}
				if err := op.Close(); err != nil {
					t.Error(err)
				}
			}
			if lacking == 1 {
				t.Errorf("%s %v: one launcher was given the kernel, another was not", name, x.dims)
			}
		}
	}
	x := smallCase(t, "matmul")
	for _, i := range b.compiled(nil)[:2] {
		_, err := i.Open(x.contract, x.dims, x.in)
		if u, ok := unavailable.As(err); !ok || !strings.Contains(u.Reason, "0 are kernels that inductor generated") {
			t.Errorf("matmul: %v", err)
		}
	}
}

func TestGPUCalibration(t *testing.T) {
	b := onGPU(t, Options{})
	c, err := b.worker.Calibrate()
	if err != nil || !c.FlushProved || *c.EventOverheadUS <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	own, err := b.options.Timer.(*timing.Device).Calibrate()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("event pair: worker %.2f µs, Go %.2f µs; copy hot %.2f and %.2f, flushed %.2f and %.2f", *c.EventOverheadUS, *own.EventOverheadUS, c.ReadHotUS, own.ReadHotUS, c.ReadColdUS, own.ReadColdUS)
}

func TestGPUEveryArmInEveryMode(t *testing.T) {
	b := onGPU(t, Options{})
	hashes := map[string]string{}
	// What takes longest to compile comes last.
	for _, c := range append(contract.All()[1:], contract.All()[0]) {
		shapes := []contract.Dims{c.Default()}
		if !testing.Short() {
			shapes = append(shapes, c.Small())
		}
		for _, d := range shapes {
			x := caseOf(t, c, d, input.DefaultDistribution(c.Name()), input.DefaultSeed)
			reference := x.spec(gate.Before)
			for _, i := range b.arms() {
				began := time.Now()
				name := i.Name() + "@" + i.LaunchPath()
				op, err := i.Open(x.contract, x.dims, x.in)
				if u, ok := unavailable.As(err); ok {
					t.Logf("%-28s %s %v: %v", name, c.Name(), d, u)
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v", name, c.Name(), err)
					continue
				}
				pass(t, op, reference, gate.Before)
				line := ""
				for _, m := range []struct {
					mode  string
					cache timing.Cache
				}{
					{"span", timing.Hot}, {"batch:50", timing.Hot}, {"graph:50", timing.Hot}, {"submit", timing.Hot}, {"latency", timing.Hot},
					{"span", timing.Cold}, {"kernel", timing.Hot}, {"kernel", timing.Cold}, {"span", timing.Hot},
				} {
					if err := gate.Prepare(op); err != nil {
						t.Fatal(err)
					}
					mode, err := timing.ParseMode(m.mode)
					if err != nil {
						t.Fatal(err)
					}
					r, err := op.Measure(timing.Request{Mode: mode, Cache: m.cache, Warmup: 5, Samples: 40, MinSamples: 5, BudgetUS: 20e3})
					if err != nil {
						t.Errorf("%s %s %s %s: %v", name, c.Name(), m.mode, m.cache, err)
						continue
					}
					pass(t, op, reference, gate.LeftBehind)
					line += fmt.Sprintf("  %s/%s %.2f", m.mode, m.cache, median(r.Samples))
					if r.Launches > 0 {
						line += fmt.Sprintf(" (%d)", r.Launches)
					}
				}
				id := op.Identity()
				t.Logf("%-28s %-9s%s | compile %.0f ms, %s %.12s, %v %v, %.1f s", name, c.Name(), line, id.CompileMS, id.BinaryKind, id.BinarySHA256, id.Params, id.Notes, time.Since(began).Seconds())
				if h := hashes[i.Name()+c.Name()+fmt.Sprint(d)]; h != "" && h != id.BinarySHA256 {
					t.Errorf("%s %s %v: not the binary of the other launch path", name, c.Name(), d)
				}
				hashes[i.Name()+c.Name()+fmt.Sprint(d)] = id.BinarySHA256
				if err := op.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// pass checks a stage with a reference that is computed once.
func pass(t *testing.T, op impl.Operation, spec gate.Spec, stage string) {
	t.Helper()
	spec.Stage = stage
	r, err := gate.Check(op, spec)
	if err != nil {
		t.Errorf("%s: %v", spec.Contract.Name(), err)
	} else if !r.Passed {
		t.Errorf("%s: gate %s: %s", spec.Contract.Name(), stage, r.Failure)
	}
}

func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[len(s)/2]
}

func TestGPUTailsAndEdges(t *testing.T) {
	b := onGPU(t, Options{})
	exported := b.worker.Triton(b.options.Device.Info())
	for _, i := range []impl.Implementation{
		b.worker.implementation("torch/eager", nil), b.worker.implementation("torch/eager-out", nil), b.worker.implementation("torch/eager-csr", nil),
		b.worker.implementation("triton/fixed", nil), Driver(b.options, exported), b.worker.CUDAPython(b.first, nil),
	} {
		for _, c := range contract.All() {
			for _, x := range cases(t, c, "small", "tails") {
				op := openOrLacks(t, i, x)
				if op == nil {
					continue
				}
				x.pass(t, op, gate.Before, gate.Challenge)
				if err := op.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
