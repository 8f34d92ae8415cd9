package capture

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The files of a capture's directory, beside the profiler's own.
const (
	CaptureFile = "capture.json"
	KernelsFile = "kernels.json"
	TableFile   = "kernels.csv"
	CopiesFile  = "copies.json"      // where there are copies
	CallsFile   = "calls.json"       // where there are calls
	MemoryFile  = "allocations.json" // where there are allocations
	LogFile     = "process.log"
)

// Schema is the version of capture.json.
const Schema = 1

// create makes a directory of its own below root.
func create(root string) (*Capture, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("new capture: %w", err)
	}
	now := time.Now().UTC()
	var r [3]byte
	rand.Read(r[:]) // never fails
	c := &Capture{Schema: Schema, ID: now.Format("20060102T150405Z") + "-" + hex.EncodeToString(r[:]), Started: now, Outcome: Running}
	c.Dir = filepath.Join(root, c.ID)
	if err := os.Mkdir(c.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("new capture: %w", err)
	}
	return c, nil
}

// save replaces capture.json: who opens it finds the old one or the new, whole.
func (c *Capture) save() error { return writeJSON(c.Dir, CaptureFile, c) }

// finish keeps the result, and how the capture ended.
func (c *Capture) finish(r *Result, err error) error {
	c.Ended = time.Now().UTC()
	c.Outcome = Complete
	failure, isFailure := errors.AsType[*Failure](err)
	switch {
	case isFailure:
		c.Outcome, c.Reason, c.Remedy = failure.Outcome, failure.Reason, failure.Remedy
	case errors.Is(err, context.Canceled):
		c.Outcome, c.Reason = Interrupted, "interrupted"
	case err != nil:
		c.Outcome, c.Reason = ToolFailed, err.Error()
	}
	c.addVersions(r.Versions)
	c.Device, c.Warnings, c.Findings, c.Launches = r.Device, r.Warnings, r.Findings, len(r.Kernels)
	kernels := r.Kernels
	if kernels == nil {
		kernels = []Kernel{}
	}
	errs := []error{writeJSON(c.Dir, KernelsFile, kernels), writeCSV(c.Dir, kernels)}
	if len(r.Copies) > 0 {
		errs = append(errs, writeJSON(c.Dir, CopiesFile, r.Copies))
	}
	if len(r.Calls) > 0 {
		errs = append(errs, writeJSON(c.Dir, CallsFile, r.Calls))
	}
	if len(r.Allocations) > 0 {
		errs = append(errs, writeJSON(c.Dir, MemoryFile, r.Allocations))
	}
	return errors.Join(append(errs, c.save())...) // the outcome last: it says that the rest is there
}

// Load reads the capture in dir with all that it holds.
func Load(dir string) (*Capture, *Result, error) {
	c, r := &Capture{Dir: dir}, &Result{}
	if err := readJSON(dir, CaptureFile, c); err != nil {
		return nil, nil, err
	}
	if c.Schema > Schema {
		return nil, nil, fmt.Errorf("%s is of schema %d, and this mage reads up to %d", filepath.Join(dir, CaptureFile), c.Schema, Schema)
	}
	for _, f := range []struct {
		name string
		into any
	}{{KernelsFile, &r.Kernels}, {CopiesFile, &r.Copies}, {CallsFile, &r.Calls}, {MemoryFile, &r.Allocations}} {
		if err := readJSON(dir, f.name, f.into); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, err
		}
	}
	r.Device, r.Warnings, r.Findings, r.Versions = c.Device, c.Warnings, c.Findings, c.Versions
	return c, r, nil
}

func readJSON(dir, name string, into any) error {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(dir, name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // names of C++ templates stay readable
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeFile(dir, name, b.Bytes())
}

// writeFile replaces a file by one that is whole.
func writeFile(dir, name string, data []byte) error {
	temp := filepath.Join(dir, "."+name+".new")
	if err := os.WriteFile(temp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, name))
}

// runLog is process.log; it remembers the line that was written last.
type runLog struct {
	f    *os.File
	mu   sync.Mutex
	line []byte // begun
	full string // the last that said something
}

func newLog(path string) (*runLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	return &runLog{f: f}, err
}

func (l *runLog) Close() error { return l.f.Close() }

func (l *runLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range p {
		if b != '\n' && b != '\r' {
			if len(l.line) < 300 {
				l.line = append(l.line, b)
			}
			continue
		}
		if s := strings.TrimSpace(strings.ToValidUTF8(string(l.line), "?")); s != "" {
			l.full = s
		}
		l.line = l.line[:0]
	}
	return l.f.Write(p)
}

func (l *runLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}
