package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/evidence"
	"mage/experiment"
	"mage/gpu/verdict"
)

// simulated opens a machine without a GPU and without a compiler.
func simulated(t *testing.T, o Options) *Machine {
	t.Helper()
	t.Setenv("MAGE_NVRTC", "/nonexistent/libnvrtc.so")
	o.Simulate, o.Version = true, "test"
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return m
}

func simulatedSpec(t *testing.T, text string) *experiment.Spec {
	t.Helper()
	s, err := experiment.ParseSpec("simulated.toml", "namespace = \"simulated\"\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const everyContract = `implementations = ["cuda/first", "rust/first"]
[[case]]
contract = "matmul"
shapes = ["small"]
[[case]]
contract = "gelu"
shapes = ["small"]
[[case]]
contract = "layernorm"
shapes = ["small"]
[[case]]
contract = "triangle"
shapes = ["small"]
[[case]]
contract = "neighbor"
shapes = ["small"]
`

// TestSimulator: every built-in kernel passes the gate and is counted, twice the
// same.
func TestSimulator(t *testing.T) {
	var first []*verdict.Counters
	for n := range 2 {
		m := simulated(t, Options{})
		if len(m.Devices) != 2 || m.Devices[1].ID != "simt:0" || m.Devices[1].Backend != "simt" || len(m.Lacking) != 0 {
			t.Fatalf("devices %+v, lacking %+v", m.Devices, m.Lacking)
		}
		r, out := run(t, m, simulatedSpec(t, everyContract), nil)
		if out.Failures != 0 || len(r.Lines) != 0 || len(r.Record.Entries) != 10 || len(r.Record.Arms) != 2 {
			t.Fatalf("%d failures, %d lines, %d entries", out.Failures, len(r.Lines), len(r.Record.Entries))
		}
		var counters []*verdict.Counters
		for _, e := range r.Record.Entries {
			if e.Counters == nil || e.Counters.Launches != 1 || len(e.Findings) > 0 || e.Identity.BinaryKind != "ptx" {
				t.Errorf("%s on %s: counters %+v, findings %v", e.Arm, e.Case, e.Counters, e.Findings)
			}
			counters = append(counters, e.Counters)
		}
		if n == 0 {
			first = counters
		} else if d := cmp.Diff(first, counters); d != "" {
			t.Errorf("another run counted otherwise: %s", d)
		}
	}
}

// TestCountersAreTheContractsWork holds counters against what can be worked out: a
// fused gelu reads x and the bias once and writes y, 4 bytes each, and every sector
// that it stores is full where rows are aligned.
func TestCountersAreTheContractsWork(t *testing.T) {
	m := simulated(t, Options{})
	r, _ := run(t, m, simulatedSpec(t, `implementations = ["cuda/first", "rust/first"]
[[case]]
contract = "gelu"
dims = [{R = 16, D = 64}]
`), nil)
	for _, e := range r.Record.Entries {
		c := e.Counters
		if c.BytesRead != 4*(16*64+64) || c.BytesWritten != 4*16*64 || c.GlobalStores.Sectors != 4*16*64/32 ||
			c.GlobalStores.Requests != 16*64/32 || c.GlobalLoads.Requests != 2*16*64/32 || c.Threads != 16*64 {
			t.Errorf("%s: %+v", e.Arm, c)
		}
	}
}

// TestSimulatorWithoutCode: a kernel that has no PTX, where there is no compiler,
// is unavailable, and says what would help.
func TestSimulatorWithoutCode(t *testing.T) {
	dir := goodKernels(t)
	if err := removeAll(filepath.Join(dir, "a", "*.ptx")); err != nil {
		t.Fatal(err)
	}
	m := simulated(t, Options{KernelDirs: []string{dir}})
	r, out := run(t, m, simulatedSpec(t, "implementations = [\"mine/a\", \"cuda/first\"]\n[[case]]\ncontract = \"gelu\"\nshapes = [\"small\"]\n"), nil)
	if out.Failures != 0 {
		t.Errorf("%d failures", out.Failures)
	}
	u := entry(t, r, "mine/a", 0).Unavailable
	if !slices.ContainsFunc(u, func(u evidence.Unavailable) bool {
		return strings.Contains(u.Reason, "there is no compiler") && strings.Contains(u.Remedy, "MAGE_NVRTC")
	}) {
		t.Errorf("unavailable %+v", u)
	}
}

func removeAll(pattern string) error {
	files, err := filepath.Glob(pattern)
	for _, f := range files {
		if err == nil {
			err = os.Remove(f)
		}
	}
	return err
}

// stopIn ends a run when a step begins.
type stopIn struct {
	experiment.Silent
	step   string
	cancel context.CancelFunc
}

func (s stopIn) Step(what string) {
	if strings.HasPrefix(what, s.step) {
		s.cancel()
	}
}

// TestInterruptedSimulation: a kernel that runs is ended, and the
// record says that it was interrupted and nothing else.
func TestInterruptedSimulation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, err := Open(ctx, Options{Simulate: true, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	spec := simulatedSpec(t, "implementations = [\"cuda/first\"]\n[[case]]\ncontract = \"matmul\"\ndims = [{M = 128, N = 128, K = 30000}]\n")
	out, err := experiment.Run(ctx, spec, &m.Lab, experiment.Options{Results: t.TempDir(), Progress: stopIn{step: "execute cuda/first@driver: matmul: ", cancel: cancel}})
	if !errors.Is(err, context.Canceled) || out.Failures != 0 {
		t.Fatalf("%v, %d failures", err, out.Failures)
	}
	r, err := evidence.Load(out.Dir)
	if err != nil || r.Record.Status != evidence.Incomplete || r.Record.Reason != "interrupted" || len(r.Record.Entries) != 0 {
		t.Errorf("%v, %+v", err, r.Record)
	}
}

// TestProgramsThatNobodyGave: an experiment of the laboratory names programs that
// only some have built. They are lacking, and the rest runs; beside programs that
// were given, another name is a mistake.
func TestProgramsThatNobodyGave(t *testing.T) {
	const names = `implementations = ["cuda/first", "exec/absent"]
[[case]]
contract = "gelu"
shapes = ["small"]
`
	spec := simulatedSpec(t, names)
	m := simulated(t, Options{Wanted: spec.Implementations})
	r, out := run(t, m, spec, nil)
	if u := r.Record.Arms[1].Unavailable; out.Failures != 0 || u == nil || !strings.Contains(u.Remedy, "--exec DIR") {
		t.Errorf("%d failures, %+v", out.Failures, r.Record.Arms[1])
	}
	dir := t.TempDir()
	text := "name = \"present\"\nprogram = \"true\"\ncontracts = [\"gelu\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "exec.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m = simulated(t, Options{Wanted: spec.Implementations, Exec: []string{dir}})
	if len(m.Lacking) != 1 || m.Lacking["exec/present"] == nil {
		t.Errorf("lacking %v", m.Lacking)
	}
}
