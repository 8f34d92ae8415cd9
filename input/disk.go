package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"mage/contract"
)

// The two descriptions of an input set; every buffer lies in NAME.bin.
const (
	describeFile = "input.json"
	hashFile     = "inputs.sha256.json"
)

// Meta is what an input set asks of a program that runs on it.
type Meta struct {
	Warmup     int // operations before the measured ones
	Iterations int // measured operations
	Variant    string
}

// description is input.json. It has no further keys, because programs that
// read it strictly exist.
type description struct {
	Op         string        `json:"op"`
	Dims       contract.Dims `json:"dims"`
	Warmup     int           `json:"warmup"`
	Iterations int           `json:"iterations"`
	Variant    string        `json:"variant,omitempty"`
}

// provenance is inputs.sha256.json.
type provenance struct {
	Seed uint64 `json:"seed"`
	// Distribution and Precision are left out when they are the default.
	Distribution string            `json:"distribution,omitempty"`
	Precision    string            `json:"precision,omitempty"`
	SHA256       map[string]string `json:"sha256"` // by file name
}

// FileError reports a file of an input set that is missing, malformed or
// different from what was expected.
type FileError struct {
	File string // base name
	Err  error
}

func (e *FileError) Error() string { return "input set: " + e.File + ": " + e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// Write puts the set into dir, creating it if need be. A file that is already
// there must hold the same bytes, otherwise nothing is written and the error is
// a *FileError; files that belong to no input set are left alone. Each file
// appears whole or not at all.
func Write(dir string, s Set, m Meta) error {
	if m.Warmup < 0 || m.Iterations < 1 {
		return fmt.Errorf("writing input set: warmup %d and iterations %d must be at least 0 and 1", m.Warmup, m.Iterations)
	}
	if err := s.Contract.CheckInputs(s.Dims, s.Tensors); err != nil {
		return fmt.Errorf("writing input set: %w", err)
	}
	files, err := encode(s, m)
	if err != nil {
		return fmt.Errorf("writing input set: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing input set: %w", err)
	}
	missing := map[string][]byte{}
	for name, data := range files {
		old, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing[name] = data
		case err != nil:
			return &FileError{name, reason(err)}
		case !bytes.Equal(old, data):
			return &FileError{name, errors.New("exists with other content; write into another directory")}
		}
	}
	// Descriptions last: a directory that has them has everything.
	for _, name := range append(bufferFiles(s), hashFile, describeFile) {
		if data, ok := missing[name]; ok {
			if err := writeFile(dir, name, data); err != nil {
				return &FileError{name, reason(err)}
			}
		}
	}
	return nil
}

func bufferFiles(s Set) []string {
	names := s.Tensors.Names()
	for i, n := range names {
		names[i] = n + ".bin"
	}
	return names
}

// encode returns the content of every file of the set, by name.
func encode(s Set, m Meta) (map[string][]byte, error) {
	files, sums := map[string][]byte{}, map[string]string{}
	for name, t := range s.Tensors {
		files[name+".bin"] = t.Data
		sums[name+".bin"] = t.SHA256()
	}
	p := provenance{Seed: s.Seed, SHA256: sums}
	if s.Distribution != DefaultDistribution(s.Contract.Name()) {
		p.Distribution = s.Distribution
	}
	if s.Contract.Precision() != contract.FP32 {
		p.Precision = string(s.Contract.Precision())
	}
	d := description{s.Contract.Name(), maps.Clone(s.Dims), m.Warmup, m.Iterations, m.Variant}
	for name, v := range map[string]any{describeFile: d, hashFile: p} {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return nil, err
		}
		files[name] = append(text, '\n')
	}
	return files, nil
}

// writeFile writes beside the final name, syncs, and renames.
func writeFile(dir, name string, data []byte) (err error) {
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}
