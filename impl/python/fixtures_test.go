package python

import (
	_ "embed"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/impl"
	"mage/input"
)

// plainPython is a python3, with or without torch.
func plainPython(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: python3 is not installed, so the worker cannot run")
	}
	return path
}

// torchPython is an interpreter that has torch: MAGE_TEST_PYTHON or MAGE_PYTHON.
func torchPython(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"MAGE_TEST_PYTHON", "MAGE_PYTHON"} {
		if p := os.Getenv(name); p != "" {
			return p
		}
	}
	t.Skip("skipped: neither MAGE_TEST_PYTHON nor MAGE_PYTHON names a Python with torch")
	return ""
}

// start starts a worker that is closed with the test.
func start(t testing.TB, o Options) *Worker {
	t.Helper()
	o.Dir = t.TempDir()
	w, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the worker printed:\n%s", w.printed())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// printed is the end of what the current process, or the last one, printed.
func (w *Worker) printed() string {
	if w.process != nil {
		return w.process.log.String()
	}
	return w.lastLog
}

// plain starts a worker with only the standard library, and the test's own
// misbehaving arms.
func plain(t testing.TB, o Options) *Worker {
	t.Helper()
	o.Interpreter, o.Device = plainPython(t), "cpu"
	o.extra = cheats(t, cheatingArms)
	return start(t, o)
}

// cheats adds arms of the family "cheat" to a worker.
func cheats(t testing.TB, arms []byte) fstest.MapFS {
	t.Helper()
	return fstest.MapFS{
		"mage_worker/cheating_arms.py": {Data: arms},
		"mage_worker/arms.py":          {Data: append(mustRead(t, "worker/mage_worker/arms.py"), "\nfamilies['cheat'] = 'mage_worker.cheating_arms'\n"...)},
	}
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	data, err := workerSource.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cheatingArms misbehave.
//
//go:embed testdata/cheating_arms.py
var cheatingArms []byte

// testCase is a contract at its small shape with inputs.
type testCase struct {
	contract contract.Contract
	dims     contract.Dims
	in       contract.Tensors
}

func smallCase(t testing.TB, name string) testCase {
	t.Helper()
	c, err := contract.Find(name, contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	return caseOf(t, c, c.Small(), input.DefaultDistribution(name), input.DefaultSeed)
}

func caseOf(t testing.TB, c contract.Contract, d contract.Dims, distribution string, seed uint64) testCase {
	t.Helper()
	set, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: distribution, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return testCase{c, d, set.Tensors}
}

func (x testCase) open(t testing.TB, i impl.Implementation) impl.Operation {
	t.Helper()
	op, err := i.Open(x.contract, x.dims, x.in)
	if err != nil {
		t.Fatalf("%s %v: %v", i.Name(), x.dims, err)
	}
	t.Cleanup(func() { op.Close() })
	return op
}

// spec is what x is checked against in a stage.
func (x testCase) spec(stage string) gate.Spec {
	return gate.Spec{Contract: x.contract, Dims: x.dims, Inputs: x.in, Seed: 1, Stage: stage,
		Reference: x.contract.Reference(x.dims, x.in)}
}

// check returns the result of one stage.
func (x testCase) check(t testing.TB, op impl.Operation, stage string) gate.Result {
	t.Helper()
	s := x.spec(stage)
	if stage == gate.Challenge {
		fresh, err := input.Generate(input.Case{Contract: x.contract, Dims: x.dims, Distribution: input.DefaultDistribution(x.contract.Name()), Seed: 99})
		if err != nil {
			t.Fatal(err)
		}
		s.Inputs, s.Restore = fresh.Tensors, x.in
		s.Reference = x.contract.Reference(x.dims, fresh.Tensors)
	}
	r, err := gate.Check(op, s)
	if err != nil {
		t.Fatalf("%s %v: %v", x.contract.Name(), x.dims, err)
	}
	return r
}

func (x testCase) pass(t testing.TB, op impl.Operation, stages ...string) {
	t.Helper()
	for _, s := range stages {
		if r := x.check(t, op, s); !r.Passed {
			t.Errorf("%s %v: gate %s: %s", x.contract.Name(), x.dims, s, r.Failure)
		}
	}
}

// eventually waits for a condition that another process brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
	}
}
