package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mage/contract/refcache"
	"mage/experiment"
	"mage/experiments"
	"mage/machine"
)

// laboratoryFlags choose what a command opens.
type laboratoryFlags struct {
	Kernels  []string `help:"Directory of your own kernels (kernel.toml + source); may be repeated." placeholder:"DIR" type:"path"`
	Exec     []string `help:"Directory of programs of your own (exec.toml); may be repeated." placeholder:"DIR" type:"path"`
	Python   string   `help:"Python interpreter for torch and Triton; by default MAGE_PYTHON, VIRTUAL_ENV, python3." placeholder:"PATH"`
	GPU      int      `help:"Ordinal of the GPU to use." default:"0"`
	Simulate bool     `help:"Leave every GPU alone (also: --no-gpu) and execute kernels on the simulator, as where there is no GPU." aliases:"no-gpu"`
}

// open opens the laboratory for the implementations that will be used.
func (f laboratoryFlags) open(ctx context.Context, wanted []string) (*machine.Machine, error) {
	shown := func(dirs []string) (out []string) {
		for _, d := range dirs {
			out = append(out, relative(d)) // as a user wrote it, for messages
		}
		return out
	}
	return machine.Open(ctx, machine.Options{KernelDirs: shown(f.Kernels), Exec: shown(f.Exec),
		Python: f.Python, Wanted: wanted, GPU: f.GPU, Simulate: f.Simulate, Version: version, Commit: commit})
}

// runOptions keep the record below results. A reference cache that cannot be had
// costs time, nothing else.
func runOptions(results string, p experiment.Progress) experiment.Options {
	cache, err := refcache.New()
	if err != nil {
		p.Note("note: " + err.Error())
	}
	return experiment.Options{Results: results, Cache: cache, Progress: p}
}

// perform runs the spec into a new record below results, showing its progress.
func perform(s *session, spec *experiment.Spec, m *machine.Machine, results string) (experiment.Outcome, error) {
	p := newProgress(s.stderr)
	defer p.Close()
	return experiment.Run(s.ctx, spec, &m.Lab, runOptions(results, p))
}

// findSpec reads a file, or a namespace: experiments/NAME.toml below the working
// directory, else the built-in experiment of that name.
func findSpec(name string) (*experiment.Spec, error) {
	if strings.HasSuffix(name, ".toml") || strings.ContainsRune(name, filepath.Separator) {
		return experiment.LoadSpec(name)
	}
	local := filepath.Join("experiments", name+".toml")
	if _, err := os.Stat(local); err == nil {
		return experiment.LoadSpec(local)
	}
	return findBuiltin(name)
}

func findBuiltin(name string) (*experiment.Spec, error) {
	text, err := experiments.Specs.ReadFile(name + ".toml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no experiment %q: neither a file in experiments nor one of the built-in ones (%s)", name, strings.Join(builtinSpecs(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return experiment.ParseSpec(name+".toml", string(text))
}

func builtinSpecs() []string {
	files, _ := fs.Glob(experiments.Specs, "*.toml") // the pattern is valid
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".toml")
	}
	return files
}

// failures turns failed arms into the exit code.
func failures(out experiment.Outcome) error {
	switch out.Failures {
	case 0:
		return nil
	case 1:
		return &exitError{exitFailed, "1 arm failed its gate or broke down; see the table"}
	}
	return &exitError{exitFailed, fmt.Sprintf("%d arms failed their gate or broke down; see the table", out.Failures)}
}
