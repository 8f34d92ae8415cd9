// Package nsys runs Nsight Systems around a program and reads its SQLite export:
// every kernel, copy, fill and API call on one timeline.
//
// https://docs.nvidia.com/nsight-systems/UserGuide/index.html
package nsys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mage/capture"
	"mage/capture/tool"
)

// Backend is Nsight Systems.
type Backend struct{}

const (
	report = "report.nsys-rep"
	export = "report.sqlite"
)

// Name is "nsys".
func (Backend) Name() string { return "nsys" }

// Prepare traces CUDA only: no sampling of the processor, whose cost would be in
// the times of the host. Kernels of graphs are traced one by one.
func (Backend) Prepare(ctx context.Context, dir string, r capture.Request) (capture.Plan, error) {
	if r.Set != "" || len(r.Metrics) > 0 {
		return capture.Plan{}, &capture.UsageError{Problem: "nsys reads no hardware counters of kernels: --set and --metrics belong to --backend ncu"}
	}
	t, err := tool.Find(ctx, "nsys", "install Nsight Systems and put nsys on PATH", "/opt/nvidia/nsight-systems/*/bin/nsys")
	if err != nil {
		return capture.Plan{}, err
	}
	path := filepath.Join(dir, report)
	argv := []string{t.Path, "profile", "--output", path, "--force-overwrite", "true", "--trace", "cuda",
		"--sample", "none", "--cpuctxsw", "none", "--cuda-graph-trace", "node", "--stats", "false"}
	if r.Range == capture.CUDA {
		argv = append(argv, "--capture-range", "cudaProfilerApi", "--capture-range-end", "stop")
	}
	return capture.Plan{
		Run:      capture.Command{Argv: append(argv, r.Argv...)},
		Export:   &capture.Command{Argv: []string{t.Path, "export", "--type", "sqlite", "--force-overwrite", "true", "--output", filepath.Join(dir, export), path}},
		Reports:  []string{report, export},
		Versions: map[string]string{"nsys": t.Version},
	}, nil
}

var noData = regexp.MustCompile(`(?i)no reports were generated|no data (was )?collected|capture range was not (started|triggered)`)

// Diagnose looks for a report, without which there is nothing to export.
func (Backend) Diagnose(dir string, code int) (*capture.Failure, bool) {
	_, err := os.Stat(filepath.Join(dir, report))
	if !errors.Is(err, os.ErrNotExist) {
		return nil, false
	}
	text, err := os.ReadFile(filepath.Join(dir, capture.LogFile))
	if err == nil && (code == 0 || noData.Match(text)) {
		return &capture.Failure{Outcome: capture.Empty, Reason: "nsys left no report: nothing was captured",
			Remedy: "with --capture-range cuda, the program must call cudaProfilerStart"}, true
	}
	if code != 0 {
		return &capture.Failure{Outcome: capture.ToolFailed, Reason: strings.TrimSpace("nsys left no report; its log ends with: " + lastLine(string(text)))}, true
	}
	return nil, false
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Parse reads the export.
func (Backend) Parse(ctx context.Context, dir string, _ capture.Request) (capture.Result, error) {
	return Parse(ctx, filepath.Join(dir, export))
}
