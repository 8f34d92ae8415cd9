package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"mage/evidence"
	"mage/experiment"
)

type runCommand struct {
	Spec    string `arg:"" optional:"" help:"A namespace such as mage-001, or a TOML file."`
	Resume  string `help:"Finish this incomplete record instead." placeholder:"DIR" type:"path"`
	Results string `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	Capture string `help:"After the rounds, profile every GPU arm on the first case of each contract: nsys, ncu, cupti, sanitizer." enum:",nsys,ncu,cupti,sanitizer" default:"" placeholder:"BACKEND"`
	laboratoryFlags
	outputFlags
}

func (c *runCommand) Run(s *session) error {
	if (c.Spec == "") == (c.Resume == "") {
		return &exitError{exitUsage, "give either an experiment to run or --resume DIR"}
	}
	spec, err := c.spec()
	if err != nil {
		return err
	}
	if err := canCapture(s.ctx, c.Capture); err != nil { // before an hour of rounds
		return err
	}
	m, err := c.open(s.ctx, spec.Implementations)
	if err != nil {
		return err
	}
	defer m.Close()

	progress := newProgress(s.stderr)
	opt := runOptions(c.Results, progress)
	var out experiment.Outcome
	if c.Resume == "" {
		out, err = experiment.Run(s.ctx, spec, &m.Lab, opt)
	} else {
		out, err = experiment.Resume(s.ctx, c.Resume, &m.Lab, opt)
	}
	progress.Close()
	if out.Dir == "" {
		return err
	}
	if err != nil {
		c.tellResume(s, out.Dir)
		return err
	}
	_ = m.Close() // a profiled process shares the GPU with nobody
	captured, err := c.captureArms(s, out.Dir)
	if err != nil {
		fmt.Fprintf(s.stderr, "Record: %s\n", relative(out.Dir))
		return err
	}
	if err = c.printWith(s, out.Dir, c.under(s, out.Dir)); err == nil {
		err = printFindings(s.stderr, out.Dir)
	}
	fmt.Fprintf(s.stderr, "Record: %s\n", relative(out.Dir))
	if err != nil {
		return err
	}
	if err := failures(out); err != nil {
		return err
	}
	return captured.failures()
}

// spec is the experiment asked for, or the one that the record to finish keeps.
func (c *runCommand) spec() (*experiment.Spec, error) {
	if c.Resume == "" {
		return findSpec(c.Spec)
	}
	rec, err := evidence.LoadRecord(c.Resume)
	if err != nil {
		return nil, err
	}
	return experiment.ParseSpec(rec.Spec.Name, rec.Spec.Text)
}

// tellResume says how to finish a record.
func (f laboratoryFlags) tellResume(s *session, dir string) {
	fmt.Fprintf(s.stderr, "The record is incomplete; finish it with: mage run --resume %s%s\n", quoted(relative(dir)), f.again())
}

// again writes the flags that a resumed run needs to open the same laboratory.
func (f laboratoryFlags) again() string {
	s := ""
	for _, dir := range f.Kernels {
		s += " --kernels " + quoted(relative(dir))
	}
	for _, dir := range f.Exec {
		s += " --exec " + quoted(relative(dir))
	}
	if f.Python != "" {
		s += " --python " + quoted(f.Python)
	}
	if f.GPU != 0 {
		s += fmt.Sprintf(" --gpu %d", f.GPU)
	}
	if f.Simulate {
		s += " --simulate"
	}
	return s
}

// quoted writes a word as a shell reads it.
func quoted(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+=:@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// relative shortens a path for display.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || len(rel) >= len(path) {
		return path
	}
	return rel
}

// findRecord accepts a record's directory, or a namespace whose newest record it
// then returns.
func findRecord(results, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(name, evidence.RecordFile)); err == nil {
		return name, nil
	}
	for _, parent := range []string{name, filepath.Join(results, name)} {
		if dir := newestRecord(parent); dir != "" {
			return dir, nil
		}
	}
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("no record %q, and none below %s", name, filepath.Join(relative(results), name))
	}
	return "", fmt.Errorf("%s is not a record: it has no %s", name, evidence.RecordFile)
}

// newestRecord is the newest of the records in parent, or "". Run ids begin with
// their second; of those of one second the records say which came last. A name that
// begins with a dot is a record that a kill kept from coming into being.
func newestRecord(parent string) string {
	entries, _ := os.ReadDir(parent) // sorted by name; none where there is no such directory
	newest, second := "", ""
	var created time.Time
	for _, e := range slices.Backward(entries) {
		dir := filepath.Join(parent, e.Name())
		if _, err := os.Stat(filepath.Join(dir, evidence.RecordFile)); err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		when, _, _ := strings.Cut(e.Name(), "-")
		if newest == "" {
			newest, second = dir, when
		} else if when != second {
			break
		}
		if rec, err := evidence.LoadRecord(dir); err == nil && rec.Created.After(created) {
			newest, created = dir, rec.Created
		}
	}
	return newest
}
