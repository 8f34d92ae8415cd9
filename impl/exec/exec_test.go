package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/impl"
	"mage/input"
	"mage/timing"
	"mage/unavailable"
)

var testContext = context.Background()

func float32Bytes(v float32) []byte {
	return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
}

// bench is the fake program, opened for one case.
type bench struct {
	set   input.Set
	fresh input.Set
	op    *operation
	pids  string
}

func openFake(t *testing.T, what string, options Options) bench {
	t.Helper()
	c := contract.GELU{}
	b := bench{pids: filepath.Join(t.TempDir(), "pids")}
	for seed, set := range map[uint64]*input.Set{1: &b.set, 2: &b.fresh} {
		var err error
		if *set, err = input.Generate(input.Case{Contract: c, Dims: c.Small(), Distribution: "normal", Seed: seed}); err != nil {
			t.Fatal(err)
		}
	}
	// A program built for the race detector sleeps a second when it ends.
	options.Env = append(options.Env, "MAGE_EXEC_FAKE="+what, "MAGE_EXEC_PIDS="+b.pids, "GORACE=atexit_sleep_ms=0")
	options.TempDir = t.TempDir()
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	d := Declaration{Name: "fake", Program: program, Contracts: []string{"gelu", "neighbor"}, Precision: []contract.Precision{contract.FP32}}
	op, err := New(testContext, options, []Declaration{d})[0].Open(c, b.set.Dims, b.set.Tensors)
	if err != nil {
		t.Fatal(err)
	}
	b.op = op.(*operation)
	t.Cleanup(func() {
		if err := op.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(options.TempDir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return b
}

func (b bench) check(stage string) (gate.Result, error) {
	s := gate.Spec{Contract: b.set.Contract, Dims: b.set.Dims, Inputs: b.set.Tensors, Stage: stage, Seed: 1}
	if stage == gate.Challenge {
		s.Inputs, s.Restore, s.Seed = b.fresh.Tensors, b.set.Tensors, 2
	}
	s.Reference = s.Contract.Reference(s.Dims, s.Inputs)
	r, err := gate.Check(b.op, s)
	if err != nil {
		return r, err
	}
	return r, r.Err()
}

func request(t *testing.T, mode string) timing.Request {
	t.Helper()
	m, err := timing.ParseMode(mode)
	if err != nil {
		t.Fatal(err)
	}
	return timing.Request{Mode: m, Cache: timing.Hot, Warmup: 3, Samples: 7, MinSamples: 2}
}

func TestHonestProgramsPassTheGateInEveryMode(t *testing.T) {
	for _, what := range []string{"honest", "run directory", "root", "mixed names", "chatty", "copies", "two runs"} {
		b := openFake(t, what, Options{})
		for _, stage := range []string{gate.Before, gate.Challenge} {
			if _, err := b.check(stage); err != nil {
				t.Fatalf("%s, %s: %v", what, stage, err)
			}
		}
		for _, mode := range []string{"span", "batch:10", "graph:5"} {
			if err := gate.Prepare(b.op); err != nil {
				t.Fatal(err)
			}
			r, err := b.op.Measure(request(t, mode))
			if err != nil {
				t.Fatalf("%s, %s: %v", what, mode, err)
			}
			if len(r.Samples) != 7 || r.Samples[0] != 5 || r.Instrument != timing.CUDAEvent || r.Operations != request(t, mode).Mode.N {
				t.Errorf("%s, %s: %+v", what, mode, r)
			}
			if _, err := b.check(gate.LeftBehind); err != nil {
				t.Errorf("%s, %s: %v", what, mode, err)
			}
		}
	}
}

// TestEveryFailureIsNamed: each ends this arm alone, with one line that says why.
func TestEveryFailureIsNamed(t *testing.T) {
	for _, c := range []struct{ what, says string }{
		{"crash", "running exec/fake gelu: exit status 1: fake: cannot read INPUT_DIR/a.bin"},
		{"signal", "signal: killed"},
		{"silent", "it ended without a timing record"},
		{"garbage", "rust-timing.json: it is not the expected JSON: invalid character 'S'"},
		{"truncated", "unexpected end of JSON input"},
		{"no output", "output still poisoned: 771 of 771"},
		{"short output", "rust-output.bin has 3080 bytes, want exactly 3084"},
		{"long output", "rust-output.bin has 3085 bytes, want exactly 3084"},
		{"wrong answer", "output out of tolerance: 1 of 771"},
		{"link", "rust-output.bin is not a regular file"},
		{"spoils input", "input b modified: 257 of 257"},
		{"other dims", "dims are map[D:1 R:1], want map[D:257 R:3]"},
		{"other op", `op is "softmax", want "gelu"`},
		{"profiled", "a profiler was on"},
		{"host clock", `instrument is "host-clock", want cuda-event`},
		{"lower precision", `precision is "tf32", want "fp32"`},
		{"zero sample", "sample 0 is 0 µs"},
		{"no samples", "it has no samples"},
	} {
		b := openFake(t, c.what, Options{})
		_, err := b.check(gate.Before)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), b.op.dir) {
			t.Errorf("%s: %v\nwant one line with %q and without a directory of the machine", c.what, err, c.says)
		}
	}
	b := openFake(t, "unavailable", Options{})
	if _, err := b.check(gate.Before); !isUnavailable(err, "no CUDA driver here") {
		t.Errorf("exit code %d: %v", exitUnavailable, err)
	}
}

// TestEarlierResultsDoNotCount leaves the results of a good run lying there.
func TestEarlierResultsDoNotCount(t *testing.T) {
	for _, first := range []string{"honest", "run directory"} {
		for what, says := range map[string]string{"silent": "without a timing record", "no output": "still poisoned"} {
			b := openFake(t, first, Options{})
			if _, err := b.check(gate.Before); err != nil {
				t.Fatal(err)
			}
			b.op.owner.options.Env = append(b.op.owner.options.Env, "MAGE_EXEC_FAKE="+what)
			if _, err := b.op.Measure(request(t, "span")); what == "silent" && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("measuring %s after %s: %v, want %q", what, first, err, says)
			}
			if _, err := b.check(gate.Before); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s after %s: %v, want %q", what, first, err, says)
			}
		}
	}
}

func TestMeasureRefusesWhatWasNotAskedFor(t *testing.T) {
	older := openFake(t, "older", Options{})
	if r, err := older.op.Measure(request(t, "span")); err != nil || len(r.Samples) != 7 {
		t.Errorf("an older program in span: %+v, %v", r, err)
	}
	if _, err := older.op.Measure(request(t, "batch:10")); !isUnavailable(err, `says mode "" with 0 operations`) {
		t.Errorf("an older program in batch: %v", err)
	}
	fewer := openFake(t, "fewer samples", Options{})
	if _, err := fewer.op.Measure(request(t, "span")); err == nil || !strings.Contains(err.Error(), "1 samples of 7") {
		t.Errorf("fewer samples: %v", err)
	}
	honest := openFake(t, "honest", Options{})
	for mode, reason := range map[string]string{"submit": "event times only", "latency": "event times only", "kernel": "not traced"} {
		if _, err := honest.op.Measure(request(t, mode)); !isUnavailable(err, reason) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	cold := request(t, "span")
	cold.Cache = timing.Cold
	if _, err := honest.op.Measure(cold); !isUnavailable(err, "nothing flushes the cache") {
		t.Errorf("cold: %v", err)
	}
}

// TestWarmUpReachesTheProgram: it stands in the input set, which stays whole.
func TestWarmUpReachesTheProgram(t *testing.T) {
	b := openFake(t, "honest", Options{})
	for _, want := range []int{3, 0, 11} {
		req := request(t, "span")
		req.Warmup = want
		if _, err := b.op.Measure(req); err != nil {
			t.Fatal(err)
		}
		left, err := collect(b.op.dir)
		if err != nil || left.timing.Warmup != want {
			t.Errorf("the program was told to warm up %d times, not %d (%v)", left.timing.Warmup, want, err)
		}
		if _, meta, err := input.Load(b.op.dir); err != nil || meta.Warmup != want {
			t.Errorf("the input set: %+v, %v", meta, err)
		}
	}
}

// TestBudgetBoundsTheSamples: the fake's operations take 5 µs, a sample 20 more.
func TestBudgetBoundsTheSamples(t *testing.T) {
	b := openFake(t, "honest", Options{})
	if err := b.op.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode   string
		budget float64
		want   int
	}{{"span", 0, 1000}, {"span", 2500, 100}, {"batch:96", 5000, 10}, {"span", 1, 2}} {
		req := request(t, c.mode)
		req.Samples, req.BudgetUS = 1000, c.budget
		r, err := b.op.Measure(req)
		if err != nil || len(r.Samples) != c.want {
			t.Errorf("%s within %v µs: %d samples, want %d (%v)", c.mode, c.budget, len(r.Samples), c.want, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	b := openFake(t, "honest", Options{DeviceID: "cuda:1"})
	i := b.op.owner
	if i.Name() != "exec/fake" || i.LaunchPath() != "exec" || i.Device() != "cuda:1" {
		t.Errorf("%s, %s, %s", i.Name(), i.LaunchPath(), i.Device())
	}
	if id := b.op.Identity(); id.BinaryKind != "executable" || len(id.BinarySHA256) != 64 {
		t.Errorf("identity = %+v", id)
	}
	if _, err := i.Open(contract.Matmul{}, contract.Matmul{}.Small(), nil); !isUnavailable(err, "does not declare matmul") {
		t.Errorf("matmul: %v", err)
	}
	var broken *contract.Error
	if _, err := i.Open(contract.GELU{}, b.set.Dims, contract.Tensors{}); !errors.As(err, &broken) {
		t.Errorf("no inputs: %v", err)
	}
	missing := New(testContext, Options{}, []Declaration{{Name: "gone", Program: "nowhere/gone", Contracts: []string{"gelu"}, Precision: []contract.Precision{contract.FP32}}})[0]
	if _, err := missing.Open(contract.GELU{}, b.set.Dims, b.set.Tensors); !isUnavailable(err, "nowhere/gone does not exist") {
		t.Errorf("missing program: %v", err)
	}
	if _, err := i.State(); !isUnavailable(err, "other processes") {
		t.Errorf("state: %v", err)
	}
}

func TestReplacedProgramIsNotRun(t *testing.T) {
	b := openFake(t, "honest", Options{})
	b.op.owner.executable.stamp, _ = os.Stat(t.TempDir())
	if err := b.op.Run(); err == nil || !strings.Contains(err.Error(), "replaced while it was measured") {
		t.Errorf("error = %v", err)
	}
}

func TestVisibleDeviceReachesTheProgram(t *testing.T) {
	i := &Implementation{options: Options{Visible: "GPU-1", Env: []string{"A=1"}}}
	env := strings.Join(i.env(), "\n") + "\n"
	for _, want := range []string{"\nA=1\n", "\nCUDA_VISIBLE_DEVICES=GPU-1\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment lacks %q", want)
		}
	}
}

func isUnavailable(err error, reason string) bool {
	u, ok := unavailable.As(err)
	return ok && strings.Contains(u.Reason, reason)
}

var _ impl.Implementation = (*Implementation)(nil)

const soon = 10 * time.Second
