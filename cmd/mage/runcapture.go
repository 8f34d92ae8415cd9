package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mage/capture"
	"mage/evidence"
	"mage/internal/printable"
	"mage/report"
	"mage/roofline"
)

// operationsOf is how many operations a backend captures: ncu and compute-sanitizer
// slow each of them down a thousand times.
func operationsOf(backend string) int {
	if backend == "nsys" || backend == "cupti" {
		return 20
	}
	return 1
}

// canCapture says whether this machine has the backend.
func canCapture(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "mage-capture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	_, err = backend(name).Prepare(ctx, dir, armRequest(name, []string{"true"}))
	return err
}

func armRequest(backend string, argv []string) capture.Request {
	r := capture.Request{Argv: argv, Range: capture.CUDA}
	if backend == "sanitizer" {
		r.Range, r.Tool = capture.All, "memcheck" // it knows no range
	}
	return r
}

// captureArms profiles arms of the record in dir, each in a process of its own,
// and adds what was seen to the record. What went wrong with some of them is told at
// the end of the run: the record holds it, and the rest.
func (c *runCommand) captureArms(s *session, dir string) (tally captureTally, err error) {
	if c.Capture == "" {
		return tally, nil
	}
	rec, err := evidence.LoadRecord(dir)
	if err != nil {
		return tally, err
	}
	self, err := os.Executable()
	if err != nil {
		return tally, err
	}
	for _, k := range representative(rec.Cases) {
		for _, arm := range capturable(rec, k.ID) {
			argv := append([]string{self, "profile-arm", "--arm", arm, "--contract", k.Contract, "--precision", k.Precision,
				"--dims", k.Dims.Format(k.DimOrder), "--distribution", k.Distribution, "--seed", fmt.Sprint(k.Seed),
				"--operations", fmt.Sprint(operationsOf(c.Capture))}, c.flags()...)
			seen, err := c.captureArm(s, dir, arm, argv)
			if err != nil {
				return tally, err
			}
			seen.Case, seen.Arm = k.ID, arm
			tally.add(seen.Outcome)
			if err := evidence.AddCaptures(dir, []evidence.Capture{seen}); err != nil {
				return tally, err
			}
		}
	}
	return tally, nil
}

// captureTally counts the captures of a run, those in which a check found errors,
// and those that did not complete.
type captureTally struct{ all, found, bad int }

func (t *captureTally) add(outcome string) {
	t.all++
	switch outcome {
	case string(capture.Complete):
	case string(capture.Findings):
		t.found++
	default:
		t.bad++
	}
}

// failures turns them into the exit code.
func (t captureTally) failures() error {
	var wrong []string
	if t.found > 0 {
		wrong = append(wrong, fmt.Sprintf("compute-sanitizer found errors in %d of %d captures", t.found, t.all))
	}
	if t.bad > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d captures did not complete", t.bad, t.all))
	}
	if wrong == nil {
		return nil
	}
	return &exitError{exitFailed, strings.Join(wrong, "; ") + "; the record's table of captures says why"}
}

// captureArm profiles one process. The native report stays in captures/: it names
// the machine. The launches go into the record. A capture that failed is one, too: the
// error is of one that there is not, or of an interrupt.
func (c *runCommand) captureArm(s *session, dir, arm string, argv []string) (evidence.Capture, error) {
	w := newWatcher(s.stderr, c.Capture, arm)
	devices := visibleGPUs()
	if c.GPU >= 0 && c.GPU < len(devices) {
		devices = devices[c.GPU : c.GPU+1]
	}
	got, r, err := capture.Run(s.ctx, backend(c.Capture), armRequest(c.Capture, argv),
		capture.Options{Root: "captures", Devices: devices, Watch: w.watch, Follow: w.terminal, Versions: map[string]string{"mage": version}})
	w.close()
	if got == nil || r == nil || s.ctx.Err() != nil {
		return evidence.Capture{}, err
	}
	seen := got.PerOperation(r, operationsOf(c.Capture))
	if len(r.Kernels) == 0 {
		return seen, nil
	}
	seen.Directory = filepath.Join("captures", got.ID)
	to := filepath.Join(dir, seen.Directory)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return seen, err
	}
	for _, name := range []string{capture.KernelsFile, capture.TableFile} {
		text, err := os.ReadFile(filepath.Join(got.Dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o644)
		}
		if err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// under are the ceilings of the device whose kernels ncu counted, where they were
// measured; a note says where they were not.
func (c *runCommand) under(s *session, dir string) (o report.Options) {
	if c.Capture != "ncu" {
		return o
	}
	seen, err := evidence.LoadCaptures(dir)
	if err != nil || len(seen) == 0 {
		return o // the report says so
	}
	last := seen[len(seen)-1]
	why := ""
	if o.Roofs, why = keptRoofs(roofline.Device{Name: last.Device, UUID: last.DeviceUUID}); why != "" {
		fmt.Fprintf(s.stderr, "note: no roofline: %s (mage report %s --ceilings FILE adds it later)\n", printable.Line(why), quoted(relative(dir)))
	}
	return o
}

// flags are those that open the same laboratory again.
func (f laboratoryFlags) flags() []string {
	var out []string
	for _, dir := range f.Kernels {
		out = append(out, "--kernels", dir)
	}
	for _, dir := range f.Exec {
		out = append(out, "--exec", dir)
	}
	if f.Python != "" {
		out = append(out, "--python", f.Python)
	}
	return append(out, "--gpu", fmt.Sprint(f.GPU))
}

// representative is the first case of each contract and precision.
func representative(cases []evidence.Case) (out []evidence.Case) {
	for _, c := range cases {
		if !slices.ContainsFunc(out, func(o evidence.Case) bool { return o.Contract == c.Contract && o.Precision == c.Precision }) {
			out = append(out, c)
		}
	}
	return out
}

// capturable are the arms that ran well on a GPU; a control is its arm again.
func capturable(rec *evidence.Record, id string) (out []string) {
	for _, a := range rec.Arms {
		if a.ControlOf != "" || a.Unavailable != nil || !strings.HasPrefix(a.Device, "cuda:") {
			continue
		}
		ran := false
		for _, e := range rec.Entries {
			if e.Case == id && e.Arm == a.ID {
				ran = e.Error == "" && len(e.Gates) > 0
			}
		}
		if ran {
			out = append(out, a.ID)
		}
	}
	return out
}
