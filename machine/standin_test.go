package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/evidence"
	"mage/evidence/schema"
	"mage/experiment"
	"mage/gpu/cuda/cudatest"
	"mage/kernels/kernelstest"
	"mage/timing"
)

// standIn points this process at a stand-in for the CUDA driver and hides the
// other NVIDIA libraries, which would find no device behind it.
func standIn(t *testing.T, defines ...string) *cudatest.Control {
	t.Helper()
	path := cudatest.BuildStub(t, defines...)
	t.Setenv("MAGE_LIBCUDA", path)
	for _, name := range []string{"MAGE_NVRTC", "MAGE_CUPTI", "MAGE_NVML"} {
		t.Setenv(name, "/nonexistent/"+strings.ToLower(name)+".so")
	}
	return cudatest.NewControl(t, path)
}

// openWith opens a machine with the kernels in a directory. The CPU is not
// calibrated, which takes long where its cache is large.
func openWith(t *testing.T, kernels string) *Machine {
	t.Helper()
	m, err := Open(t.Context(), Options{KernelDirs: []string{kernels}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	m.Calibrate = func(device string) (timing.Calibration, error) {
		if device == "cpu" {
			return timing.Calibration{FlushProved: true}, nil
		}
		return m.calibrate(device)
	}
	return m
}

// goodKernels returns a directory with mine/a and mine/b, which compute gelu.
func goodKernels(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	kernelstest.Write(t, dir, "mine/a", kernelstest.Gelu, "")
	kernelstest.Write(t, dir, "mine/b", kernelstest.Gelu, "")
	return dir
}

// spec declares two small cases of gelu for the CPU and the given implementations.
func spec(t *testing.T, rounds int, modes string, implementations ...string) *experiment.Spec {
	t.Helper()
	s, err := experiment.ParseSpec("standin.toml", fmt.Sprintf(`namespace = "standin"
implementations = ["cpu/naive", "%s"]
control = ["none"]
modes = [%s]
rounds = %d
repeats = 1
samples = 4
min_samples = 4
warmup = 1
budget = "1s"
[[case]]
contract = "gelu"
dims = [{R = 3, D = 17}, {R = 2, D = 5}]
`, strings.Join(implementations, `", "`), modes, rounds))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run performs s and returns the record, which must load, be complete, and have
// the published form, whatever became of the arms.
func run(t *testing.T, m *Machine, s *experiment.Spec, p experiment.Progress) (*evidence.Run, experiment.Outcome) {
	t.Helper()
	out, err := experiment.Run(context.Background(), s, &m.Lab, experiment.Options{Results: t.TempDir(), Progress: p})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evidence.Load(out.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Record.Status != evidence.Complete {
		t.Errorf("the record is %s (%s)", r.Record.Status, r.Record.Reason)
	}
	if err := schema.ValidateRun(out.Dir); err != nil {
		t.Error(err)
	}
	failed := 0
	for _, e := range r.Record.Entries {
		if e.Error != "" {
			failed++
			if strings.Contains(e.Error, "\n") {
				t.Errorf("the error of %s is not one line: %q", e.Arm, e.Error)
			}
		}
	}
	if failed != out.Failures {
		t.Errorf("%d failures reported, %d entries of the record hold an error", out.Failures, failed)
	}
	return r, out
}

// entry returns the entry of an implementation on the nth case, from 0.
func entry(t *testing.T, r *evidence.Run, implementation string, n int) evidence.Entry {
	t.Helper()
	for _, e := range r.Record.Entries {
		if e.Case == r.Record.Cases[n].ID && strings.HasPrefix(e.Arm, implementation+"@") {
			return e
		}
	}
	t.Fatalf("%s has no entry on case %d", implementation, n)
	return evidence.Entry{}
}

// lines counts the lines of an implementation on the nth case, by mode.
func lines(r *evidence.Run, implementation string, n int) map[string]int {
	count := map[string]int{}
	for _, l := range r.Lines {
		if l.Case == r.Record.Cases[n].ID && strings.HasPrefix(l.Arm, implementation+"@") {
			count[l.Mode]++
		}
	}
	return count
}

func total(count map[string]int) (n int) {
	for _, c := range count {
		n += c
	}
	return n
}

func wantError(t *testing.T, e evidence.Entry, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(e.Error, p) {
			t.Errorf("the error of %s on %s is %q, which lacks %q", e.Arm, e.Case, e.Error, p)
		}
	}
}

func closeWithoutLeaks(t *testing.T, m *Machine, c *cudatest.Control) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	c.NoLeaks(t)
}

// TestUserKernelOnTheStandIn runs kernels that a user wrote through everything
// there is between the driver and the record.
func TestUserKernelOnTheStandIn(t *testing.T) {
	c := standIn(t)
	m := openWith(t, goodKernels(t))
	r, out := run(t, m, spec(t, 2, `"span", "batch:3", "graph:5", "submit", "latency", "kernel"`, "mine/a", "mine/b"), nil)

	instruments := map[string]string{"span": "cuda-event", "batch:3": "cuda-event", "graph:5": "cuda-event",
		"submit": "host-clock", "latency": "host-clock"}
	for n := range 2 {
		for _, name := range []string{"mine/a", "mine/b"} {
			got := lines(r, name, n)
			for mode := range instruments {
				if got[mode] != 2 {
					t.Errorf("%s, case %d, %s: %d lines, want one per round", name, n, mode, got[mode])
				}
			}
			if got["kernel"] != 0 {
				t.Errorf("%s was measured in kernel mode without CUPTI", name)
			}
			e := entry(t, r, name, n)
			if e.Error != "" || len(e.Gates) != 4 {
				t.Errorf("%s: %d gates, error %q", name, len(e.Gates), e.Error)
			}
			for _, g := range e.Gates {
				if !g.Passed {
					t.Errorf("%s: gate %s failed", name, g.Stage)
				}
			}
			if len(e.Unavailable) != 1 || !strings.Contains(e.Unavailable[0].What+e.Unavailable[0].Reason, "CUPTI") ||
				!strings.Contains(e.Unavailable[0].Reason, "mage_cupti.so") {
				t.Errorf("%s: unavailable %+v, want CUPTI and why", name, e.Unavailable)
			}
			if e.Identity.BinaryKind != "ptx" || e.Identity.Entry != "stub_gelu" || e.Identity.BinarySHA256 == "" ||
				!strings.Contains(e.Identity.Compiler, "by hand") {
				t.Errorf("%s: identity %+v", name, e.Identity)
			}
		}
	}
	if out.Failures != 0 {
		t.Errorf("%d failures", out.Failures)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Arm, "mine/") && l.Instrument != instruments[l.Mode] {
			t.Errorf("%s %s was read with %s", l.Arm, l.Mode, l.Instrument)
		}
		if l.Mode == "graph:5" && (l.Operations != 5 || len(l.ReplayUS) != len(l.Samples) || l.Launches != 1) {
			t.Errorf("graph:5 has %d operations, %d launches, %d replays for %d samples", l.Operations, l.Launches, len(l.ReplayUS), len(l.Samples))
		}
		if l.Mode == "batch:3" && strings.HasPrefix(l.Arm, "mine/") && l.Operations != 3 {
			t.Errorf("batch:3 has %d operations", l.Operations)
		}
	}
	if len(r.Record.Devices) != 2 || r.Record.Devices[1].ID != "cuda:0" || r.Record.Devices[1].Name != "Stub GPU" {
		t.Errorf("devices %+v", r.Record.Devices)
	}
	if len(r.Record.Calibration) != 2 || r.Record.Calibration[1].EventOverheadUS == nil {
		t.Errorf("calibrations %+v", r.Record.Calibration)
	}
	nvrtc := false
	for _, u := range r.Record.Unavailable {
		nvrtc = nvrtc || strings.Contains(u.What, "NVRTC") && strings.Contains(u.Reason, "mage_nvrtc.so") && u.Remedy != ""
	}
	if !nvrtc {
		t.Errorf("no reason for the lacking NVRTC in %+v", r.Record.Unavailable)
	}
	closeWithoutLeaks(t, m, c)
}

// TestACopyIsNotGelu: a kernel with a wrong answer fails the gate, and nothing
// of it is timed.
func TestACopyIsNotGelu(t *testing.T) {
	c := standIn(t)
	dir := goodKernels(t)
	kernelstest.Write(t, dir, "mine/wrong", kernelstest.Copy, "")
	m := openWith(t, dir)
	r, out := run(t, m, spec(t, 1, `"span"`, "mine/a", "mine/wrong"), nil)
	if out.Failures != 2 || total(lines(r, "mine/wrong", 0)) != 0 || total(lines(r, "mine/a", 0)) != 1 {
		t.Errorf("%d failures, lines %v of the wrong and %v of the right kernel",
			out.Failures, lines(r, "mine/wrong", 0), lines(r, "mine/a", 0))
	}
	e := entry(t, r, "mine/wrong", 0)
	wantError(t, e, "gate (before)")
	if len(e.Gates) != 1 || e.Gates[0].Passed {
		t.Errorf("gates %+v", e.Gates)
	}
	closeWithoutLeaks(t, m, c)
}

// TestStalePTXIsUnavailable: code of another version of the source must not run.
func TestStalePTXIsUnavailable(t *testing.T) {
	c := standIn(t)
	dir := goodKernels(t)
	if err := os.WriteFile(filepath.Join(dir, "b", "gelu.cu"), []byte("// another version\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := openWith(t, dir)
	r, out := run(t, m, spec(t, 1, `"span"`, "mine/a", "mine/b"), nil)
	u := entry(t, r, "mine/b", 0).Unavailable
	if out.Failures != 0 || len(u) != 1 || !strings.Contains(u[0].Reason, "another version of gelu.cu") {
		t.Errorf("%d failures, unavailable %+v", out.Failures, u)
	}
	closeWithoutLeaks(t, m, c)
}
