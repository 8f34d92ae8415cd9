package exec

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mage/contract"
	"mage/gate"
	"mage/impl"
	"mage/input"
	"mage/internal/tail"
	"mage/tensor"
	"mage/unavailable"
)

// gateWarmup is the warm-up of runs that are made for their output. Their time is
// an estimate of what samples will cost, so that it should not be a first run's.
const gateWarmup = 2

// operation is a program opened for one case: an input directory that every run
// of it reads. Its output allocation is a file; the guard zones are its exact
// length, so a file that is longer or shorter fails and none is ever read as one.
type operation struct {
	owner    *Implementation
	contract contract.Contract
	dims     contract.Dims
	dir      string
	warmup   int
	poison   byte
	// output is the file that holds the output: poison, or what a run left.
	output string
	// costUS is the least time of one operation that a run reported; 0: none yet.
	costUS float64
}

// SetInputs writes the inputs over those in the directory.
func (o *operation) SetInputs(in contract.Tensors) error {
	if err := o.contract.CheckInputs(o.dims, in); err != nil {
		return err
	}
	names := []string{"input.json", "inputs.sha256.json"}
	for _, s := range o.contract.Inputs(o.dims) {
		names = append(names, s.Name+".bin")
	}
	if err := o.forget(names...); err != nil {
		return err
	}
	return o.write(in)
}

// write writes the files of the input set that are missing. The seed in it is 0:
// inputs come here as bytes, and their hashes say which they are.
func (o *operation) write(in contract.Tensors) error {
	set := input.Set{Case: input.Case{Contract: o.contract, Dims: o.dims, Distribution: input.DefaultDistribution(o.contract.Name())}, Tensors: in}
	return input.Write(o.dir, set, input.Meta{Warmup: o.warmup, Iterations: 1})
}

// Inputs reads the inputs as they are on disk now.
func (o *operation) Inputs() (contract.Tensors, error) {
	in := contract.Tensors{}
	for _, s := range o.contract.Inputs(o.dims) {
		t := tensor.New(s)
		data, err := readExactly(filepath.Join(o.dir, s.Name+".bin"), int64(s.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("input %s of %s: %w", s.Name, o.name(), err)
		}
		copy(t.Data, data)
		in[s.Name] = t
	}
	return in, nil
}

// Poison removes what earlier runs left and puts an output file of that byte in
// the places where the program's own may belong: a program that writes nothing
// leaves the poison.
func (o *operation) Poison(value byte) error {
	if err := o.forget(slices.Concat(timingNames, runDirs, outputNames)...); err != nil {
		return err
	}
	o.poison = value
	o.output = filepath.Join(o.dir, outputNames[0])
	if err := os.WriteFile(o.output, bytes.Repeat([]byte{value}, o.contract.Output(o.dims).Bytes()), 0o644); err != nil {
		return fmt.Errorf("poisoning the output of %s: %w", o.name(), reason(err))
	}
	if err := os.Chtimes(o.output, untouched, untouched); err != nil {
		return fmt.Errorf("poisoning the output of %s: %w", o.name(), reason(err))
	}
	for _, name := range outputNames[1:] {
		if err := os.Link(o.output, filepath.Join(o.dir, name)); err != nil {
			return fmt.Errorf("poisoning the output of %s: %w", o.name(), err)
		}
	}
	return nil
}

// clear removes results, but not the poison or output at the root.
func (o *operation) clear() error {
	return o.forget(slices.Concat(timingNames, runDirs)...)
}

func (o *operation) forget(names ...string) error {
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(o.dir, name)); err != nil {
			return fmt.Errorf("clearing the input directory of %s: %w", o.name(), reason(err))
		}
	}
	return nil
}

// Run lets the program measure one operation, and takes its output.
func (o *operation) Run() error {
	r, err := o.launch("--iterations", "1")
	if err != nil {
		return fmt.Errorf("running %s: %w", o.name(), err)
	}
	o.learn(r.SamplesUS)
	return nil
}

// launch runs the program and reads what it left. Results of earlier runs are
// gone before it starts.
func (o *operation) launch(args ...string) (timingRecord, error) {
	e := o.owner.executable
	if err := e.unchanged(); err != nil {
		return timingRecord{}, err
	}
	if err := o.clear(); err != nil {
		return timingRecord{}, err
	}
	log, err := run(o.owner.ctx, job{
		path: e.path, args: append([]string{o.dir}, args...), dir: o.dir,
		env: o.owner.env(), deadline: o.owner.options.Deadline,
	})
	if err != nil {
		line := o.local(tail.Line(log))
		if code, ok := exitCode(err); ok && code == exitUnavailable {
			return timingRecord{}, unavailable.New(o.name(), "it says: "+line, "")
		}
		if line != "" {
			err = fmt.Errorf("%w: %s", err, line)
		}
		return timingRecord{}, err
	}
	left, err := collect(o.dir)
	if err != nil {
		return timingRecord{}, err
	}
	if err := left.timing.fits(o.contract, o.dims); err != nil {
		return timingRecord{}, fmt.Errorf("%s: %w", left.timingName, err)
	}
	o.output = left.output
	return left.timing, nil
}

// local takes the machine's directories out of a line that may be retained.
func (o *operation) local(line string) string {
	line = strings.ReplaceAll(line, o.owner.executable.path, filepath.Base(o.owner.executable.path))
	return strings.ReplaceAll(line, o.dir, "INPUT_DIR")
}

// Output returns the file between guard zones that hold the poison: a file of any
// other length is an error.
func (o *operation) Output() ([]byte, error) {
	n := o.contract.Output(o.dims).Bytes()
	data, err := readExactly(o.output, int64(n))
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", o.name(), err)
	}
	all := bytes.Repeat([]byte{o.poison}, n+2*gate.GuardBytes)
	copy(all[gate.GuardBytes:], data)
	return all, nil
}

// Identity names the executable that runs, and the command that built it.
func (o *operation) Identity() impl.Identity {
	e := o.owner.executable
	return impl.Identity{BinarySHA256: e.sha256, BinaryKind: "executable", Compiler: e.built, CompileMS: e.buildMS}
}

// Close removes the input directory.
func (o *operation) Close() error {
	if err := os.RemoveAll(o.dir); err != nil {
		return fmt.Errorf("closing %s: %w", o.name(), reason(err))
	}
	return nil
}

func (o *operation) name() string { return o.owner.Name() + " " + o.contract.Name() }

// readExactly reads a regular file that must have that many bytes.
func readExactly(path string, bytes int64) ([]byte, error) {
	name := filepath.Base(path)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is missing", name)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, reason(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() != bytes:
		return nil, fmt.Errorf("%s has %d bytes, want exactly %d", name, info.Size(), bytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	if int64(len(data)) != bytes {
		return nil, fmt.Errorf("%s is still being written", name)
	}
	return data, nil
}

// reason drops the path from a file error: it names the machine.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
