package tritonhook

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"mage/capture"
)

//go:embed runner/start.py runner/mage_timing/*.py
var runner embed.FS

const (
	times     = "times"         // times.PROCESS.jsonl
	timesGlob = "times.*.jsonl" // of the script and its forks
	runnerDir = "mage-timing"
)

// Backend is --backend triton. The zero value is ready.
type Backend struct{}

// Name is "triton".
func (Backend) Name() string { return "triton" }

// Prepare puts the Python side into dir. Whether torch and Triton work shows only
// in the script: Parse returns an *unavailable.Error when they did not.
func (Backend) Prepare(_ context.Context, dir string, r capture.Request) (capture.Plan, error) {
	switch {
	case r.Script == "" || len(r.Argv) < 2:
		return capture.Plan{}, &capture.UsageError{Problem: "the triton backend times Python scripts: use `mage profile SCRIPT`"}
	case r.Set != "" || len(r.Metrics) > 0:
		return capture.Plan{}, &capture.UsageError{Problem: "the triton backend reads no hardware counters: --set and --metrics are for ncu"}
	case r.Tool != "":
		return capture.Plan{}, &capture.UsageError{Problem: "the triton backend checks nothing: --sanitize is for compute-sanitizer"}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return capture.Plan{}, err
	}
	files, err := fs.Sub(runner, "runner")
	if err != nil {
		return capture.Plan{}, err
	}
	if err := os.CopyFS(filepath.Join(dir, runnerDir), files); err != nil {
		return capture.Plan{}, fmt.Errorf("the runner of scripts: %w", err)
	}
	on := capture.All
	if r.Range == capture.CUDA {
		on = capture.CUDA
	}
	argv := []string{r.Argv[0], filepath.Join(dir, runnerDir, "start.py"), filepath.Join(dir, times), string(on), strconv.Itoa(r.LaunchCount)}
	return capture.Plan{
		Run:     capture.Command{Argv: append(argv, r.Argv[1:]...)},
		Reports: []string{timesGlob},
	}, nil
}

// Parse reads the times of the script, and of its forks.
func (Backend) Parse(_ context.Context, dir string, r capture.Request) (capture.Result, error) {
	_ = os.RemoveAll(filepath.Join(dir, runnerDir)) // it is not evidence
	names, err := fs.Glob(os.DirFS(dir), timesGlob)
	if err != nil {
		return capture.Result{}, err
	}
	if len(names) == 0 {
		return capture.Result{}, &capture.Failure{Outcome: capture.ToolFailed, Reason: "the interpreter did not come to run the script"}
	}
	var all []*log
	for _, name := range names {
		l, err := readFile(filepath.Join(dir, name))
		if err != nil {
			return capture.Result{}, &capture.Failure{Outcome: capture.Invalid, Reason: fmt.Sprintf("%s: %v", name, err)}
		}
		all = append(all, l)
	}
	return result(all), judge(all, r.Range)
}

// Follow reads the launches that the script has handed over so far.
func (Backend) Follow(dir string) func(func(*capture.Kernel)) {
	var files capture.Growing
	return func(seen func(*capture.Kernel)) {
		files.Each(dir, timesGlob, func(_ string, text []byte) {
			var e entry
			if json.Unmarshal(text, &e) == nil && e.Type == "launch" {
				seen(&capture.Kernel{Name: e.Name, DurationUS: e.US})
			}
		})
	}
}
