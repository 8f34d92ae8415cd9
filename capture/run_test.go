//go:build unix

package capture_test

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mage/capture"
	"mage/capture/capturetest"
	"mage/capture/ncu"
	"mage/capture/nsys"
	"mage/capture/sanitizer"
	"mage/unavailable"
)

// bench is a place to capture in, with stand-ins on PATH.
type bench struct {
	*testing.T
	root string
}

func newBench(t *testing.T, mode, report string) *bench {
	t.Helper()
	bin := t.TempDir()
	capturetest.Install(t, bin)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir()) // for the locks
	t.Setenv("MAGE_STANDIN", mode)
	t.Setenv("MAGE_STANDIN_REPORT", report)
	t.Setenv("MAGE_STANDIN_PIDS", filepath.Join(bin, "pids"))
	return &bench{t, filepath.Join(t.TempDir(), "captures")}
}

// run captures, and checks that capture.json says what the error says.
func (b *bench) run(backend capture.Backend, r capture.Request, want capture.Outcome) (*capture.Capture, *capture.Result) {
	b.Helper()
	c, result, err := capture.Run(context.Background(), backend, r, capture.Options{Root: b.root})
	f, ok := errors.AsType[*capture.Failure](err)
	if want == capture.Complete && err != nil || want != capture.Complete && (!ok || f.Outcome != want) {
		b.Fatalf("error = %v, want %s", err, want)
	}
	if want != capture.Complete && f.Reason == "" {
		b.Error("a failure without a reason")
	}
	kept, _ := load(b.T, c.Dir)
	if kept.Outcome != want || kept.Ended.IsZero() || want != capture.Complete && kept.Reason != f.Reason {
		b.Errorf("capture.json: %s (%s), ended %v", kept.Outcome, kept.Reason, kept.Ended)
	}
	return kept, result
}

func export(t *testing.T, script string) string {
	path := filepath.Join(t.TempDir(), "export.sqlite")
	capturetest.WriteExport(t, path, capturetest.Export{Version: "3.24.14", Script: script})
	return path
}

var (
	good    = capture.Request{Argv: []string{"/bin/sh", "-c", "exit 0"}, Range: capture.All}
	failing = capture.Request{Argv: []string{"/bin/sh", "-c", "echo the program says no; exit 7"}, Range: capture.All}
)

const rawCSV, findings, clean = "ncu/testdata/raw-metrics.csv", "sanitizer/testdata/memcheck.log", "sanitizer/testdata/clean.log"

// unknownCSV is what ncu 2025.3.1 left on an H200 of --metrics no__such.sum.
const unknownCSV = "ncu/testdata/unknown-metric.csv"

func TestCaptureDirectory(t *testing.T) {
	b := newBench(t, "", export(t, ""))
	argv := []string{"/bin/sh", "-c", `printf '<%s>' "$@"; echo`, "sh", "two words", "$(false)", "*", ""}
	c, r := b.run(nsys.Backend{}, capture.Request{Argv: argv, Range: capture.CUDA}, capture.Complete)
	if !slices.Equal(c.Target, argv) || !slices.Equal(c.Command[len(c.Command)-len(argv):], argv) {
		t.Errorf("target %q, command %q", c.Target, c.Command)
	}
	if !slices.Contains(c.Command, "cudaProfilerApi") || c.Versions["nsys"] != "2025.5.1.121" || c.Backend != "nsys" ||
		c.Range != capture.CUDA || *c.ExitCode != 0 || c.Device != "NVIDIA H200" || c.Launches != 3 {
		t.Errorf("%+v", c)
	}
	log, err := os.ReadFile(filepath.Join(c.Dir, capture.LogFile))
	if err != nil || string(log) != "<two words><$(false)><*><>\n" {
		t.Errorf("log %q, %v", log, err)
	}
	for _, name := range append(c.Reports, capture.KernelsFile, capture.TableFile, capture.CopiesFile, capture.CallsFile) {
		if info, err := os.Stat(filepath.Join(c.Dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, kept := load(t, c.Dir)
	if len(kept.Kernels) != len(r.Kernels) || len(kept.Calls) != 2 || kept.Kernels[1].Grid != (capture.Dim{4, 5, 6}) {
		t.Errorf("%+v", kept)
	}
	another, _ := b.run(nsys.Backend{}, capture.Request{Argv: argv, Range: capture.CUDA}, capture.Complete)
	if another.Dir == c.Dir {
		t.Error("two captures share a directory")
	}
}

func TestCSVLeavesMissingCountersEmpty(t *testing.T) {
	b := newBench(t, "", "ncu/testdata/raw-full.csv")
	c, _ := b.run(ncu.Backend{}, good, capture.Complete)
	f, err := os.Open(filepath.Join(c.Dir, capture.TableFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := func(column string) int { return slices.Index(rows[0], column) }
	if i := at("dram__bytes_read.sum [B]"); i < 0 || rows[3][i] != "1.2592384e+07" {
		t.Errorf("column %d of %q", i, rows[0])
	}
	if i := at("start_ns"); rows[1][i] != "" {
		t.Errorf("ncu has no timeline, and start_ns is %q", rows[1][i])
	}
	if i := at("derived_tempMetric4 [1]"); i >= 0 && rows[1][i] != "" {
		t.Errorf("nan became %q", rows[1][i])
	}
}

func TestFailures(t *testing.T) {
	timed := good
	timed.Timeout = 300 * time.Millisecond
	memcheck, badMemcheck, lacking := good, failing, good
	lacking.Metrics = []string{"no__such.sum"}
	memcheck.Tool, badMemcheck.Tool = "memcheck", "memcheck"
	half, torn := filepath.Join(t.TempDir(), "half.log"), filepath.Join(t.TempDir(), "torn.csv")
	for to, from := range map[string]string{half: clean, torn: rawCSV} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text[:len(text)-30], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	negative := export(t, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 5 WHERE start = 7000")
	for _, c := range []struct {
		name, mode, report string
		backend            capture.Backend
		request            capture.Request
		want               capture.Outcome
		says               string
	}{
		{"nsys target", "", export(t, ""), nsys.Backend{}, failing, capture.TargetFailed, "sh ended with exit code 7"},
		{"nsys empty", "empty", "", nsys.Backend{}, good, capture.Empty, "nothing was captured"},
		{"nsys no kernel", "", export(t, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL"), nsys.Backend{}, good, capture.Empty, "no kernel was launched"},
		{"nsys killed", "killed", "", nsys.Backend{}, good, capture.Killed, "nsys was ended by a signal: killed"},
		{"nsys export", "export", "", nsys.Backend{}, good, capture.ToolFailed, "the report is damaged"},
		{"nsys schema", "", export(t, "UPDATE META_DATA_EXPORT SET value = '9.1.0'"), nsys.Backend{}, good, capture.Unsupported, "version 9.1.0"},
		{"nsys negative", "", negative, nsys.Backend{}, good, capture.Invalid, "(reduce_kernel) has a duration of -0.005 µs"},
		{"nsys hang", "hang", "", nsys.Backend{}, timed, capture.TimedOut, "took longer than 300ms"},
		{"ncu target", "", rawCSV, ncu.Backend{}, failing, capture.TargetFailed, "exit code 7"},
		{"ncu empty", "empty", "", ncu.Backend{}, good, capture.Empty, "ncu profiled no kernel"},
		{"ncu permission", "permission", "", ncu.Backend{}, good, capture.ToolFailed, "ERR_NVGPUCTRPERM"},
		{"ncu lacks a counter", "", unknownCSV, ncu.Backend{}, lacking, capture.ToolFailed, "no launch has a value of no__such.sum"},
		{"ncu killed", "killed", "", ncu.Backend{}, good, capture.Killed, "signal"},
		{"ncu export", "export", "", ncu.Backend{}, good, capture.ToolFailed, "Failed to open the report"},
		{"ncu unreadable", "", clean, ncu.Backend{}, good, capture.Unsupported, "header line"},
		{"sanitizer findings", "", findings, sanitizer.Backend{}, memcheck, capture.Findings, "Invalid __global__ write of size 4 bytes"},
		{"sanitizer target", "", clean, sanitizer.Backend{}, badMemcheck, capture.TargetFailed, "exit code 7"},
		{"sanitizer no report", "empty", "", sanitizer.Backend{}, memcheck, capture.ToolFailed, "left no report"},
		{"sanitizer cut off", "", half, sanitizer.Backend{}, memcheck, capture.Invalid, "has no summary"},
		{"ncu cut off", "", torn, ncu.Backend{}, good, capture.Invalid, "not whole"},
		{"sanitizer killed", "killed", "", sanitizer.Backend{}, memcheck, capture.Killed, "signal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.mode, c.report)
			kept, _ := b.run(c.backend, c.request, c.want)
			if !strings.Contains(kept.Reason, c.says) {
				t.Errorf("reason %q, want %q in it", kept.Reason, c.says)
			}
			if c.mode == "hang" {
				gone(t, os.Getenv("MAGE_STANDIN_PIDS"))
			}
		})
	}
}

// TestFailedTargetKeepsItsReport: what was seen before the failure is worth having.
func TestFailedTargetKeepsItsReport(t *testing.T) {
	b := newBench(t, "", export(t, ""))
	if c, _ := b.run(nsys.Backend{}, failing, capture.TargetFailed); c.Launches != 3 || *c.ExitCode != 7 {
		t.Errorf("%d launches, exit code %d", c.Launches, *c.ExitCode)
	}
}

func TestCleanSanitizer(t *testing.T) {
	b := newBench(t, "", clean)
	r := good
	r.Tool = "racecheck"
	if c, _ := b.run(sanitizer.Backend{}, r, capture.Complete); len(c.Findings) != 0 || !slices.Contains(c.Command, "racecheck") {
		t.Errorf("%+v", c)
	}
}

func TestInterrupt(t *testing.T) {
	b := newBench(t, "hang", "")
	ctx, cancel := context.WithCancel(context.Background())
	pids := os.Getenv("MAGE_STANDIN_PIDS")
	go func() {
		for range 4000 {
			if _, err := os.Stat(pids); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	c, _, err := capture.Run(ctx, ncu.Backend{}, good, capture.Options{Root: b.root})
	if !errors.Is(err, context.Canceled) || c.Outcome != capture.Interrupted {
		t.Fatalf("%v, %s", err, c.Outcome)
	}
	if kept, _ := load(t, c.Dir); kept.Outcome != capture.Interrupted {
		t.Errorf("%+v", kept)
	}
	gone(t, pids)
}

// gone waits until the processes have ended.
func gone(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			stat, err := os.ReadFile(filepath.Join("/proc", f, "stat"))
			_, state, _ := strings.Cut(string(stat), ") ")
			if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && strings.HasPrefix(state, "Z") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("process %d is still running", pid)
			}
		}
	}
}

func TestRefusedBeforeAnything(t *testing.T) {
	for name, c := range map[string]struct {
		backend capture.Backend
		request capture.Request
		says    string
	}{
		"no program":       {nsys.Backend{}, capture.Request{}, "no program to profile"},
		"missing program":  {nsys.Backend{}, capture.Request{Argv: []string{"/nonexistent/program"}}, `there is no program "/nonexistent/program"`},
		"an empty program": {nsys.Backend{}, capture.Request{Argv: []string{""}}, `there is no program ""`},
		"timeout":          {ncu.Backend{}, capture.Request{Argv: good.Argv, Timeout: -1}, "timeout of -1ns"},
		"range of a check": {sanitizer.Backend{}, capture.Request{Argv: good.Argv, Tool: "memcheck", Range: capture.CUDA}, "checks the whole program"},
		"counters of nsys": {nsys.Backend{}, capture.Request{Argv: good.Argv, Set: "full"}, "belong to --backend ncu"},
		"no such check":    {sanitizer.Backend{}, capture.Request{Argv: good.Argv, Tool: "spellcheck"}, `no check "spellcheck"`},
		"launch count":     {ncu.Backend{}, capture.Request{Argv: good.Argv, LaunchCount: -1}, "launch count of -1"},
	} {
		b := newBench(t, "", "")
		_, _, err := capture.Run(context.Background(), c.backend, c.request, capture.Options{Root: b.root})
		if _, ok := errors.AsType[*capture.UsageError](err); !ok || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error = %v", name, err)
		}
		if left, _ := filepath.Glob(b.root + "/*"); len(left) > 0 {
			t.Errorf("%s: left %q", name, left)
		}
	}
}

func TestMissingProfiler(t *testing.T) {
	b := newBench(t, "", "")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CUDA_HOME", "/nonexistent")
	for _, name := range []string{"/usr/local/cuda/bin/nsys", "/opt/nvidia/nsight-systems"} {
		if _, err := os.Stat(name); err == nil {
			t.Skip("this machine has nsys")
		}
	}
	_, _, err := capture.Run(context.Background(), nsys.Backend{}, good, capture.Options{Root: b.root})
	if u, ok := unavailable.As(err); !ok || u.Remedy == "" {
		t.Errorf("error = %v", err)
	}
}

// TestDevice: a capture is of the only GPU that the program could use, or of that of
// its kernels' ordinal; where neither tells, it says nothing.
func TestDevice(t *testing.T) {
	b := newBench(t, "", "ncu/testdata/raw-full.csv") // all of device 0
	for _, c := range []struct {
		devices []string
		want    string
	}{{nil, ""}, {[]string{"GPU-1"}, "GPU-1"}, {[]string{"GPU-1", "GPU-2"}, "GPU-1"}} {
		got, _, err := capture.Run(t.Context(), ncu.Backend{}, capture.Request{Argv: []string{"true"}, Range: capture.All}, capture.Options{Root: b.root, Devices: c.devices})
		if err != nil {
			t.Fatal(err)
		}
		if kept, _ := load(t, got.Dir); kept.UUID != c.want || kept.Device != "NVIDIA H200" {
			t.Errorf("of %q: %s, %s", c.devices, kept.Device, kept.UUID)
		}
		if seen := got.PerOperation(&capture.Result{}, 1); seen.DeviceUUID != c.want || seen.Device != "NVIDIA H200" {
			t.Errorf("the record: %+v", seen)
		}
	}
}
