package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mage/contract"
	"mage/tensor"
)

// maxDescription bounds the JSON files, which hold a few hundred bytes.
const maxDescription = 1 << 20

// Load reads and verifies an input set: strict JSON, a known contract, valid
// dims, the length and the hash of every file, finite values, a sound graph.
// The error is a *FileError, or a *contract.Error in its chain when the files
// are intact and break the contract.
func Load(dir string) (Set, Meta, error) {
	var d description
	if err := readJSON(dir, describeFile, &d, []string{"op", "dims", "warmup", "iterations"}, "variant"); err != nil {
		return Set{}, Meta{}, &FileError{describeFile, err}
	}
	var p provenance
	if err := readJSON(dir, hashFile, &p, []string{"seed", "sha256"}, "distribution", "precision"); err != nil {
		return Set{}, Meta{}, &FileError{hashFile, err}
	}
	c, err := d.check(p)
	if err != nil {
		return Set{}, Meta{}, err
	}
	set := Set{
		Case:    Case{Contract: c, Dims: d.Dims, Distribution: p.Distribution, Seed: p.Seed},
		Tensors: contract.Tensors{},
		SHA256:  map[string]string{},
	}
	if set.Distribution == "" {
		set.Distribution = DefaultDistribution(c.Name())
	}
	specs := c.Inputs(d.Dims)
	// Lengths first: they cost nothing, and no buffer is allocated for a wrong one.
	for _, s := range specs {
		if err := checkLength(dir, s); err != nil {
			return Set{}, Meta{}, &FileError{s.Name + ".bin", err}
		}
	}
	for _, s := range specs {
		file := s.Name + ".bin"
		t, err := readTensor(dir, s)
		if err != nil {
			return Set{}, Meta{}, &FileError{file, err}
		}
		set.Tensors[s.Name], set.SHA256[s.Name] = t, t.SHA256()
		if want := p.SHA256[file]; want != set.SHA256[s.Name] {
			return Set{}, Meta{}, &FileError{file, fmt.Errorf("SHA-256 is %s, but %s says %s", set.SHA256[s.Name], hashFile, want)}
		}
	}
	if err := c.CheckInputs(d.Dims, set.Tensors); err != nil {
		return Set{}, Meta{}, fmt.Errorf("input set: %w", err)
	}
	return set, Meta{d.Warmup, d.Iterations, d.Variant}, nil
}

// check finds the contract and validates everything but the buffers.
func (d description) check(p provenance) (contract.Contract, error) {
	precision := contract.FP32
	if p.Precision != "" {
		precision = contract.Precision(p.Precision)
	}
	c, err := contract.Find(d.Op, precision)
	if err != nil {
		return nil, &FileError{describeFile, err}
	}
	if err := c.CheckDims(d.Dims); err != nil {
		return nil, &FileError{describeFile, err}
	}
	if d.Warmup < 0 || d.Iterations < 1 {
		return nil, &FileError{describeFile, fmt.Errorf(`"warmup" is %d and "iterations" %d: at least 0 and 1 are needed`, d.Warmup, d.Iterations)}
	}
	if p.Distribution != "" {
		if err := CheckDistribution(c.Name(), p.Distribution); err != nil {
			return nil, &FileError{hashFile, err}
		}
	}
	specs := c.Inputs(d.Dims)
	for _, s := range specs {
		if _, ok := p.SHA256[s.Name+".bin"]; !ok {
			return nil, &FileError{hashFile, fmt.Errorf("the hash of %s.bin is missing", s.Name)}
		}
	}
	if len(p.SHA256) != len(specs) {
		return nil, &FileError{hashFile, fmt.Errorf("it has %d hashes, but %s has %d inputs", len(p.SHA256), c.Name(), len(specs))}
	}
	return c, nil
}

func checkLength(dir string, s tensor.Spec) error {
	info, err := os.Stat(filepath.Join(dir, s.Name+".bin"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file is missing")
	case err != nil:
		return reason(err)
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case info.Size() != int64(s.Bytes()):
		return fmt.Errorf("it has %d bytes, want %d for %s", info.Size(), s.Bytes(), s)
	}
	return nil
}

func readTensor(dir string, s tensor.Spec) (tensor.Tensor, error) {
	f, err := os.Open(filepath.Join(dir, s.Name+".bin"))
	if err != nil {
		return tensor.Tensor{}, reason(err)
	}
	defer f.Close()
	t := tensor.New(s)
	if _, err := io.ReadFull(f, t.Data); err != nil {
		return tensor.Tensor{}, reason(err)
	}
	return t, nil
}

// readJSON decodes one object strictly: missing, unknown and repeated keys,
// other capitals, trailing text and nulls are errors.
func readJSON(dir, name string, v any, required []string, optional ...string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the file is missing")
	}
	if err != nil {
		return reason(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDescription+1))
	if err != nil {
		return reason(err)
	}
	if len(text) > maxDescription {
		return fmt.Errorf("it is longer than %d bytes", maxDescription)
	}
	if err := rejectRepeatedKeys(text); err != nil {
		return err
	}
	// Unmarshal also refuses trailing text, but matches keys in any capitals.
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	for _, k := range required {
		if _, ok := keys[k]; !ok {
			return fmt.Errorf("%q is missing", k)
		}
	}
	known := slices.Concat(required, optional)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(known, k) {
			return fmt.Errorf("unknown key %q (known: %s)", k, strings.Join(known, ", "))
		}
	}
	return json.Unmarshal(text, v)
}

// rejectRepeatedKeys refuses what encoding/json would silently accept: a key
// that comes twice, of which the last would win, and null for a value.
func rejectRepeatedKeys(text []byte) error {
	type level struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var stack []level
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if token == nil {
			return errors.New("null is not a value here")
		}
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			if name, ok := token.(string); ok && top.key {
				if top.keys[name] {
					return fmt.Errorf("key %q comes twice", name)
				}
				top.keys[name], top.key = true, false
				continue
			}
			top.key = top.keys != nil // after a value, and after a nested one closes
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, level{map[string]bool{}, true})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}

// reason drops the path from a file error: it may name the machine.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}
