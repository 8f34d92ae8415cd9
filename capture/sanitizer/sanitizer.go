// Package sanitizer runs compute-sanitizer around a program and reads its report:
// accesses out of bounds, races in shared memory, reads of what nothing wrote,
// wrong barriers.
//
// https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html
package sanitizer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mage/capture"
	"mage/capture/tool"
)

// Backend is compute-sanitizer.
type Backend struct{}

const report = "sanitizer.log"

// codeOfFindings is the exit code asked of compute-sanitizer when it found
// something: one that programs rarely use.
const codeOfFindings = 86

var checks = [...]string{"memcheck", "racecheck", "initcheck", "synccheck"}

// Name is "sanitizer".
func (Backend) Name() string { return "sanitizer" }

// Prepare runs the check with every report printed.
func (Backend) Prepare(ctx context.Context, dir string, r capture.Request) (capture.Plan, error) {
	if !slices.Contains(checks[:], r.Tool) {
		return capture.Plan{}, &capture.UsageError{Problem: fmt.Sprintf("compute-sanitizer has no check %q; choose of %s", r.Tool, strings.Join(checks[:], ", "))}
	}
	if r.Range == capture.CUDA || r.Set != "" || len(r.Metrics) > 0 {
		return capture.Plan{}, &capture.UsageError{Problem: "compute-sanitizer checks the whole program and counts nothing: --capture-range cuda, --set and --metrics are for profilers"}
	}
	t, err := tool.Find(ctx, "compute-sanitizer", "install the CUDA toolkit's compute-sanitizer and put it on PATH",
		"/usr/local/cuda/compute-sanitizer/compute-sanitizer")
	if err != nil {
		return capture.Plan{}, err
	}
	argv := []string{t.Path, "--tool", r.Tool, "--log-file", filepath.Join(dir, report), "--error-exitcode", strconv.Itoa(codeOfFindings),
		"--print-limit", "100000", "--target-processes", "all"}
	if r.LaunchCount > 0 {
		argv = append(argv, "--launch-count", strconv.Itoa(r.LaunchCount))
	}
	return capture.Plan{
		Run:        capture.Command{Argv: append(argv, r.Argv...)},
		Reports:    []string{report},
		Versions:   map[string]string{"compute-sanitizer": t.Version},
		MayBeEmpty: true,
	}, nil
}

// Diagnose accepts the code that stands for findings: they are in the report.
func (Backend) Diagnose(dir string, code int) (*capture.Failure, bool) {
	if code == codeOfFindings {
		return nil, true
	}
	text, err := os.ReadFile(filepath.Join(dir, report))
	if err != nil {
		return &capture.Failure{Outcome: capture.ToolFailed, Reason: fmt.Sprintf("compute-sanitizer left no report (exit code %d)", code)}, true
	}
	return diagnose(string(text))
}

func diagnose(text string) (*capture.Failure, bool) {
	if line, ok := toolError(text); ok {
		return &capture.Failure{Outcome: capture.ToolFailed, Reason: "compute-sanitizer: " + line}, true
	}
	if unused(text) {
		return &capture.Failure{Outcome: capture.Empty, Reason: "the program ended without using CUDA where compute-sanitizer could see it: nothing was checked",
			Remedy: "it does not follow the programs that a Go program starts: check those themselves"}, true
	}
	return nil, false
}

// Parse reads the report.
func (Backend) Parse(_ context.Context, dir string, _ capture.Request) (capture.Result, error) {
	text, err := os.ReadFile(filepath.Join(dir, report))
	if err != nil {
		return capture.Result{}, err
	}
	return Parse(string(text))
}
