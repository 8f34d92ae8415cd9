// Package ncu runs Nsight Compute around a program: hardware counters of each
// kernel, in base units. Clocks and caches are left as the program has them.
//
// https://docs.nvidia.com/nsight-compute/NsightComputeCli/index.html
package ncu

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"mage/capture"
	"mage/capture/tool"
)

// Backend is Nsight Compute.
type Backend struct{}

const (
	report = "report.ncu-rep"
	table  = "ncu.csv"
)

// Name is "ncu".
func (Backend) Name() string { return "ncu" }

// Prepare profiles with the counters asked for, or with those that tell how near
// a kernel comes to the device's limits.
func (Backend) Prepare(ctx context.Context, dir string, r capture.Request) (capture.Plan, error) {
	t, err := tool.Find(ctx, "ncu", "install Nsight Compute and put ncu on PATH", "/opt/nvidia/nsight-compute/*/ncu")
	if err != nil {
		return capture.Plan{}, err
	}
	argv := []string{t.Path, "--export", filepath.Join(dir, report), "--force-overwrite", "--target-processes", "all",
		"--clock-control", "none", "--cache-control", "none"}
	if r.Range == capture.CUDA {
		argv = append(argv, "--profile-from-start", "off")
	}
	if r.LaunchCount > 0 {
		argv = append(argv, "--launch-count", strconv.Itoa(r.LaunchCount))
	}
	argv = append(argv, counters(r)...)
	return capture.Plan{
		Run: capture.Command{Argv: append(argv, r.Argv...)},
		Export: &capture.Command{Stdout: table, Env: []string{"LC_ALL=C"},
			Argv: []string{t.Path, "--import", filepath.Join(dir, report), "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "demangled"}},
		Reports:  []string{report, table},
		Versions: map[string]string{"ncu": t.Version},
	}, nil
}

// counters are the options that choose what is measured. The duration is always
// measured. By default it is what tells how near a kernel comes to the device's
// limits: sections where the names of counters differ between devices, and by name
// those that every device since sm_70 has.
func counters(r capture.Request) []string {
	var argv []string
	metrics := append([]string{capture.Duration}, r.Metrics...)
	switch {
	case r.Set != "":
		argv = []string{"--set", r.Set}
	case len(r.Metrics) == 0:
		argv = []string{"--set", "basic", "--section", "MemoryWorkloadAnalysis", "--section", "ComputeWorkloadAnalysis"}
		metrics = append(metrics, capture.AnalysisMetrics()...)
	}
	return append(argv, "--metrics", strings.Join(metrics, ","))
}

var (
	applicationError = regexp.MustCompile(`==ERROR==.*application returned an error code \((-?\d+)\)`)
	errorLine        = regexp.MustCompile(`(?m)^==ERROR== (.+)$`)
)

// Diagnose reads the log: ncu ends well although it profiled nothing.
func (Backend) Diagnose(dir string, code int) (*capture.Failure, bool) {
	text, err := os.ReadFile(filepath.Join(dir, capture.LogFile))
	if err != nil {
		return nil, false
	}
	return diagnose(string(text), code)
}

func diagnose(log string, code int) (*capture.Failure, bool) {
	if strings.Contains(log, "ERR_NVGPUCTRPERM") {
		return &capture.Failure{Outcome: capture.ToolFailed,
			Reason: "this user may not read the GPU's hardware counters (ERR_NVGPUCTRPERM)",
			Remedy: "run as administrator, or load the NVIDIA kernel module with NVreg_RestrictProfilingToAdminUsers=0; in a container, add the capability SYS_ADMIN"}, true
	}
	if m := applicationError.FindStringSubmatch(log); m != nil {
		return &capture.Failure{Outcome: capture.TargetFailed, Reason: "the program ended with exit code " + m[1]}, true
	}
	if strings.Contains(log, "No kernels were profiled") && !strings.Contains(log, "==PROF== Connected to process") {
		return &capture.Failure{Outcome: capture.Empty, Reason: "the program ended without using CUDA where ncu could see it",
			Remedy: "it does not follow the programs that a Go program starts: profile those themselves"}, true
	}
	if strings.Contains(log, "No kernels were profiled") {
		return &capture.Failure{Outcome: capture.Empty, Reason: "ncu profiled no kernel",
			Remedy: "with --capture-range cuda, the program must call cudaProfilerStart before its kernels"}, true
	}
	if m := errorLine.FindStringSubmatch(log); m != nil && code != 0 {
		return &capture.Failure{Outcome: capture.ToolFailed, Reason: fmt.Sprintf("ncu: %s", strings.TrimSpace(m[1]))}, true
	}
	return nil, false
}

// Parse reads the exported table. A counter that was asked for and that no launch
// has is a *capture.Failure, because ncu ends well without it.
func (Backend) Parse(_ context.Context, dir string, r capture.Request) (capture.Result, error) {
	text, err := os.ReadFile(filepath.Join(dir, table))
	if err != nil {
		return capture.Result{}, err
	}
	t, rows, err := read(text)
	if err != nil {
		return capture.Result{}, err
	}
	kernels, err := t.raw(rows)
	result := capture.Result{Kernels: kernels, Device: t.device(rows)}
	if err != nil || len(kernels) == 0 {
		return result, err
	}
	return result, t.lacks(rows[1:], r.Metrics)
}
