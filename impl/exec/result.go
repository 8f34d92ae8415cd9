package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"mage/contract"
)

// Where programs leave their results: a directory per run, and copies at the root
// of the input directory. The names with rust- are those of older programs.
var (
	runDirs     = []string{"runs", "rust-runs"}
	outputNames = []string{"rust-output.bin", "output.bin"}
	timingNames = []string{"rust-timing.json", "timing.json"}
)

// maxTiming bounds a timing record: a million samples of some twenty digits.
const maxTiming = 32 << 20

// timingRecord is what a program says about its run. Keys that are not listed are
// its own business.
type timingRecord struct {
	RunID      string        `json:"run_id"`
	Op         string        `json:"op"`
	Dims       contract.Dims `json:"dims"`
	Iterations int           `json:"iterations"`
	Warmup     int           `json:"warmup"`
	// SamplesUS are microseconds per operation.
	SamplesUS []float64 `json:"samples_us"`
	Capture   bool      `json:"capture"`
	Precision string    `json:"precision"`
	// Mode and Operations, the number that share one sample, are missing in the
	// records of older programs, which know the mode span only.
	Mode       string `json:"mode"`
	Operations int    `json:"operations"`
	Instrument string `json:"instrument"`
}

// leftBehind is what a run left.
type leftBehind struct {
	timing     timingRecord
	timingName string
	output     string // path
}

// collect finds the results of the only run since the directory was cleared: those
// in the newest run directory that has a timing record, else those at the root.
func collect(dir string) (leftBehind, error) {
	for _, at := range append(runDirectories(dir), dir) {
		timing, ok := firstFile(at, timingNames)
		if !ok {
			continue
		}
		output, ok := firstFile(at, outputNames)
		if !ok || at == dir {
			output, ok = rootOutput(dir)
		}
		if !ok {
			return leftBehind{}, errors.New("it left a timing record and no output")
		}
		record, err := readTiming(timing)
		if err != nil {
			return leftBehind{}, fmt.Errorf("%s: %w", filepath.Base(timing), err)
		}
		return leftBehind{record, filepath.Base(timing), output}, nil
	}
	return leftBehind{}, fmt.Errorf("it ended without a timing record (%s or %s)", timingNames[0], timingNames[1])
}

// runDirectories returns the directories of runs, the newest first.
func runDirectories(dir string) []string {
	type found struct {
		path string
		info fs.FileInfo
	}
	var all []found
	for _, parent := range runDirs {
		entries, err := os.ReadDir(filepath.Join(dir, parent))
		if err != nil {
			continue // most programs have one of the two
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && e.IsDir() {
				all = append(all, found{filepath.Join(dir, parent, e.Name()), info})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if a, b := all[i].info.ModTime(), all[j].info.ModTime(); !a.Equal(b) {
			return a.After(b)
		}
		return all[i].path > all[j].path
	})
	var paths []string
	for _, f := range all {
		paths = append(paths, f.path)
	}
	return paths
}

func firstFile(dir string, names []string) (string, bool) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// untouched is the time of files that hold poison: whoever writes one changes it.
var untouched = time.Unix(0, 0)

// rootOutput finds the output at the root of the input directory: what is not the
// untouched poison, else that, which no gate accepts.
func rootOutput(dir string) (string, bool) {
	for _, name := range outputNames {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.ModTime().Equal(untouched) {
			return path, true
		}
	}
	return firstFile(dir, outputNames)
}

func readTiming(path string) (timingRecord, error) {
	var r timingRecord
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return r, reason(err)
	case !info.Mode().IsRegular():
		return r, errors.New("it is not a regular file")
	case info.Size() > maxTiming:
		return r, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxTiming)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return r, reason(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("it is not the expected JSON: %w", err)
	}
	return r, nil
}

// fits returns an error unless the record is of the case that was asked for and
// its samples can be times.
func (r *timingRecord) fits(c contract.Contract, d contract.Dims) error {
	switch {
	case r.Op != c.Name():
		return fmt.Errorf("op is %q, want %q", r.Op, c.Name())
	case !maps.Equal(r.Dims, d):
		return fmt.Errorf("dims are %v, want %v", r.Dims, d)
	case r.Precision != "" && r.Precision != string(c.Precision()):
		return fmt.Errorf("precision is %q, want %q", r.Precision, c.Precision())
	case r.Capture:
		return errors.New("it says that a profiler was on")
	case r.Instrument != "" && r.Instrument != "cuda-event":
		return fmt.Errorf("instrument is %q, want cuda-event", r.Instrument)
	case len(r.SamplesUS) == 0:
		return errors.New("it has no samples")
	}
	if i := slices.IndexFunc(r.SamplesUS, func(us float64) bool { return us <= 0 || math.IsInf(us, 0) }); i >= 0 {
		return fmt.Errorf("sample %d is %v µs", i, r.SamplesUS[i])
	}
	return nil
}
