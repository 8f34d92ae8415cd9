package capture

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	if err := os.WriteFile(filepath.Join(c.Dir, reserveFile), make([]byte, reserveBytes), 0o600); err != nil {
		_ = os.RemoveAll(c.Dir)
		return nil, fmt.Errorf("new capture: %w", err)
	}
	return c, nil
}

// reserveFile takes the room that the last capture.json needs: a capture that
// filled the disk must still say so.
const (
	reserveFile  = ".reserve"
	reserveBytes = 32 << 10
)

// save replaces capture.json: who opens it finds the old one or the new, whole.
func (c *Capture) save() error {
	return writeFile(c.Dir, CaptureFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false) // names of C++ templates stay readable
		e.SetIndent("", "  ")
		return e.Encode(c)
	})
}

// finish keeps the result, and how the capture ended: with err, or with what went
// wrong only now.
func (c *Capture) finish(r *Result, devices []string, err error) error {
	c.Ended = c.Started.Add(time.Since(c.Started)) // the clock may have been set in between
	c.addVersions(r.Versions)
	c.UUID = uuidOf(r.Kernels, devices)
	c.Device, c.Findings, c.Launches = r.Device, r.Findings, len(r.Kernels)
	c.Warnings = append(c.Warnings, r.Warnings...)
	if failed := c.keep(r); failed != nil && err == nil {
		err = &Failure{Outcome: ToolFailed, Reason: "what was seen could not be kept: " + failed.Error()}
	}
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
	_ = os.Remove(filepath.Join(c.Dir, reserveFile)) // what cannot be removed costs 32 KiB
	if failed := c.save(); failed != nil && err == nil {
		err = fmt.Errorf("the capture is complete, but not marked so: %w", failed)
	}
	return err
}

// uuidOf is the device of the kernels, of those that the program could use: the only
// one, or that of their ordinal. A program's ordinals are Mage's, because both see the
// same CUDA_VISIBLE_DEVICES.
func uuidOf(kernels []Kernel, devices []string) string {
	if len(kernels) == 0 {
		return ""
	}
	if len(devices) == 1 {
		return devices[0]
	}
	first := kernels[0].Device
	for i := range kernels {
		if d := kernels[i].Device; d == nil || *d != *first || *d < 0 || *d >= len(devices) {
			return ""
		}
	}
	return devices[*first]
}

// keep writes all but capture.json.
func (c *Capture) keep(r *Result) error {
	if err := writeList(c.Dir, KernelsFile, r.Kernels); err != nil {
		return err
	}
	if err := writeCSV(c.Dir, r.Kernels); err != nil {
		return err
	}
	if len(r.Copies) > 0 {
		if err := writeList(c.Dir, CopiesFile, r.Copies); err != nil {
			return err
		}
	}
	if len(r.Calls) > 0 {
		if err := writeList(c.Dir, CallsFile, r.Calls); err != nil {
			return err
		}
	}
	if len(r.Allocations) > 0 {
		return writeList(c.Dir, MemoryFile, r.Allocations)
	}
	return nil
}

// writeList writes a JSON array, an element a line: a long capture has millions.
func writeList[T any](dir, name string, list []T) error {
	return writeFile(dir, name, func(w io.Writer) error {
		e := json.NewEncoder(w) // ends each element with a line break
		e.SetEscapeHTML(false)
		between := "[\n"
		for i := range list {
			if _, err := io.WriteString(w, between); err != nil {
				return err
			}
			if err := e.Encode(&list[i]); err != nil {
				return err
			}
			between = ","
		}
		if len(list) == 0 {
			_, err := io.WriteString(w, "[]\n")
			return err
		}
		_, err := io.WriteString(w, "]\n")
		return err
	})
}

// writeFile replaces a file by one that is whole; what fails leaves nothing.
func writeFile(dir, name string, write func(io.Writer) error) error {
	temp := filepath.Join(dir, "."+name+".new")
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err = firstError(write(w), w.Flush(), f.Close()); err == nil {
		return os.Rename(temp, filepath.Join(dir, name))
	}
	_ = os.Remove(temp)
	return err
}
