package python

import (
	_ "embed"
	"maps"
	"strings"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/impl"
	"mage/input"
	"mage/timing"
	"mage/unavailable"
)

// lacks says which contracts an implementation cannot compute, and why.
var lacks = map[string]string{
	"torch/eager-out layernorm": "no out= form",
	"torch/eager-csr matmul":    "only neighbor",
	"torch/eager-csr gelu":      "only neighbor",
	"torch/eager-csr layernorm": "only neighbor",
	"torch/eager-csr triangle":  "only neighbor",
}

// cases are the shapes of the families and every edge case of a contract.
func cases(t testing.TB, c contract.Contract, families ...string) []testCase {
	t.Helper()
	var all []testCase
	for _, family := range families {
		shapes, err := contract.Shapes(c, family)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range shapes {
			all = append(all, caseOf(t, c, d, input.DefaultDistribution(c.Name()), input.DefaultSeed))
		}
	}
	for _, e := range contract.EdgeCases(c) {
		all = append(all, caseOf(t, c, e.Dims, e.Distribution, input.DefaultSeed))
	}
	return all
}

// openOrLacks opens, or checks that what is unavailable says so.
func openOrLacks(t testing.TB, i impl.Implementation, x testCase) impl.Operation {
	t.Helper()
	op, err := i.Open(x.contract, x.dims, x.in)
	if why, ok := lacks[i.Name()+" "+x.contract.Name()]; ok {
		if u, is := unavailable.As(err); !is || !strings.Contains(u.Reason, why) {
			t.Errorf("%s %s: %v, want unavailable: %s", i.Name(), x.contract.Name(), err, why)
		}
		return nil
	}
	if u, ok := unavailable.As(err); ok && i.Name() == "torch/eager-csr" && strings.Contains(u.Reason, "more entries than the matrix") {
		return nil // on a GPU alone
	}
	if err != nil {
		t.Fatalf("%s %v: %v", i.Name(), x.dims, err)
	}
	return op
}

// gateAll takes implementations through the gate at every case.
func gateAll(t *testing.T, w *Worker, names, families []string) {
	for _, name := range names {
		i := w.implementation(name, nil)
		for _, c := range contract.All() {
			for _, x := range cases(t, c, families...) {
				op := openOrLacks(t, i, x)
				if op == nil {
					break
				}
				x.pass(t, op, gate.Before)
				if err := op.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// oneThread keeps torch's threads from waiting for each other, on cores that run
// other tests, longer than a small operation takes.
const oneThread = "OMP_NUM_THREADS=1"

// One worker serves all tests on CPU tensors: to import torch takes seconds.
func TestTorchOnTheCPU(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Interpreter: torchPython(t), Device: "cpu", extra: cheats(t, recompilingArms), Env: []string{oneThread,
		"TORCHINDUCTOR_VEC_ISA_OK=0", // Inductor takes a minute to find out which vectors a CPU has
	}})
	v, err := w.Versions()
	if err != nil || v["torch"] == "" || strings.HasPrefix(v["torch"], "unavailable") {
		t.Fatalf("versions %v, %v", v, err)
	}
	t.Logf("torch %s, triton %s", v["torch"], v["triton"])
	t.Run("gate", func(t *testing.T) {
		gateAll(t, w, []string{"torch/eager", "torch/eager-out", "torch/eager-csr"}, []string{"small", "tails"})
	})
	t.Run("modes", func(t *testing.T) {
		x := smallCase(t, "gelu")
		for _, name := range []string{"torch/eager", "torch/eager-out"} {
			measureModes(t, x, x.open(t, w.implementation(name, nil)))
		}
	})
	t.Run("compiled", func(t *testing.T) { testCompiled(t, w) })
	t.Run("recompiled", func(t *testing.T) { testRecompiled(t, w) })
	t.Run("exported", func(t *testing.T) { testExportedArguments(t, w) })
}

//go:embed testdata/recompiling_arms.py
var recompilingArms []byte

// A compilation in a measured region is an error of that arm.
func testRecompiled(t *testing.T, w *Worker) {
	x := smallCase(t, "gelu")
	for how, says := range map[string]string{"never": "", "now": "torch compiled again while it was measured"} {
		op := x.open(t, w.implementation("cheat/"+how, nil))
		_, err := op.Measure(timing.Request{Mode: timing.Mode{Kind: timing.Span, N: 1}, Cache: timing.Hot, Samples: 2, MinSamples: 2})
		if (err != nil) != (says != "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", how, err, says)
		}
	}
}

// measureModes measures in every mode, and gates what each left behind.
func measureModes(t testing.TB, x testCase, op impl.Operation) {
	t.Helper()
	for _, c := range []struct {
		mode  string
		cache timing.Cache
		lacks bool
	}{
		{"span", timing.Hot, false}, {"span", timing.Cold, false}, {"latency", timing.Hot, false},
		{"batch:5", timing.Hot, false}, {"batch:5", timing.Cold, true},
		{"submit", timing.Hot, true}, {"graph:5", timing.Hot, true}, {"kernel", timing.Hot, true},
	} {
		m, err := timing.ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		if err := gate.Prepare(op); err != nil {
			t.Fatal(err)
		}
		r, err := op.Measure(timing.Request{Mode: m, Cache: c.cache, Warmup: 1, Samples: 3, MinSamples: 3})
		if _, is := unavailable.As(err); is != c.lacks {
			t.Errorf("%s %s: %v", c.mode, c.cache, err)
		}
		if c.lacks {
			continue
		}
		if err != nil || len(r.Samples) != 3 || r.Instrument != timing.HostClock {
			t.Errorf("%s %s: %+v, %v", c.mode, c.cache, r, err)
		}
		x.pass(t, op, gate.LeftBehind)
	}
}

// A torch that sees no GPU offers nothing on one, and says so.
func TestTorchWithoutAGPU(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Interpreter: torchPython(t), Device: "cuda:0", Env: []string{"CUDA_VISIBLE_DEVICES="}})
	x := smallCase(t, "gelu")
	for _, i := range w.Implementations(nil) {
		_, err := i.Open(x.contract, x.dims, x.in)
		u, ok := unavailable.As(err)
		if !ok || u.Remedy == "" {
			t.Errorf("%s: %v", i.Name(), err)
		}
	}
}

func testCompiled(t *testing.T, w *Worker) {
	if testing.Short() {
		t.Skip("skipped: compiles C++")
	}
	i := w.implementation("torch/compile", nil)
	x := smallCase(t, "gelu")
	op, err := i.Open(x.contract, x.dims, x.in)
	if u, ok := unavailable.As(err); ok && strings.Contains(u.Reason, "no compiler") {
		t.Skip("skipped: ", u)
	}
	if err != nil {
		t.Fatal(err)
	}
	id := op.Identity()
	if id.CompileMS <= 0 || id.Notes["inductor mode"] != "default" || len(id.SourceSHA256) != 64 || id.SourceSHA256 == sourceSHA256() {
		t.Errorf("identity %+v", id)
	}
	x.pass(t, op, gate.Before, gate.Challenge)
	if err := gate.Prepare(op); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Measure(timing.Request{Mode: timing.Mode{Kind: timing.Span, N: 1}, Cache: timing.Hot, Warmup: 1, Samples: 3}); err != nil {
		t.Error(err)
	}
	x.pass(t, op, gate.LeftBehind)
	if err := op.Close(); err != nil {
		t.Error(err)
	}
	// Opened again it is found in caches, and is still what took so long to make.
	again := x.open(t, i).Identity()
	if again.CompileMS != id.CompileMS || again.SourceSHA256 != id.SourceSHA256 {
		t.Errorf("identity %+v, then %+v", id, again)
	}
	_, err = w.Compiled("torch/compile").Prepare(x.contract, x.dims)
	if u, ok := unavailable.As(err); !ok || u.Reason != "what inductor generates for a CPU is no GPU kernel" {
		t.Errorf("error %v", err)
	}
}

// Triton's interpreter executes the kernels' source on CPU tensors.
func TestTritonInterpreted(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Interpreter: torchPython(t), Device: "cpu", Env: []string{oneThread, "TRITON_INTERPRET=1"}})
	if err := w.Offers("triton/fixed"); err != nil {
		t.Skip("skipped: ", err)
	}
	t.Run("gate", func(t *testing.T) { gateAll(t, w, []string{"triton/fixed"}, []string{"small"}) })
	t.Run("choices", func(t *testing.T) { testChoices(t, w) })
}

// Triton chooses among configurations, once.
func testChoices(t *testing.T, w *Worker) {
	if testing.Short() {
		t.Skip("skipped: interprets every configuration")
	}
	i := w.implementation("triton/autotuned", nil)
	for _, c := range contract.All() {
		x := smallCase(t, c.Name())
		op := x.open(t, i)
		x.pass(t, op, gate.Before, gate.Challenge)
		id := op.Identity()
		if id.Params["num_warps"] == 0 || !strings.Contains(id.Notes["tuning"], " configurations, ") || id.Notes["chosen"] == "" {
			t.Errorf("%s: identity %+v", c.Name(), id)
		}
		// Other launch paths, and the same one opened again, take the same choice.
		again := x.open(t, i).Identity()
		if !maps.Equal(again.Params, id.Params) || again.Notes["tuning"] != id.Notes["tuning"] {
			t.Errorf("%s: chose %v, then %v", c.Name(), id, again)
		}
		chosen, err := w.tuned(c, x.dims)
		if err != nil || !maps.Equal(chosen, id.Params) {
			t.Errorf("%s: other launch paths take %v (%v), want %v", c.Name(), chosen, err, id.Params)
		}
		fresh := contract.Dims{}
		for name := range x.dims {
			fresh[name] = 3
		}
		if chosen, err := w.tuned(c, fresh); err != nil || chosen["num_warps"] == 0 {
			t.Errorf("%s: nothing chosen for %v: %v, %v", c.Name(), fresh, chosen, err)
		}
	}
}
