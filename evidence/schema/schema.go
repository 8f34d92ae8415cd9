// Package schema is the published form of a record: the JSON Schemas (draft
// 2020-12) of record.json and of the lines of samples.jsonl and events.jsonl,
// and a check of a record directory against them.
//
// The schemas describe exactly what this version writes: a field that they do
// not know is an error. Readers should be more tolerant than that.
package schema

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schemas in Files.
const (
	Record      = "record.schema.json"
	SamplesLine = "samples-line.schema.json"
	EventsLine  = "events-line.schema.json"
	Captures    = "captures.schema.json"
)

//go:embed *.json
var files embed.FS

// Files holds the schemas.
func Files() fs.FS { return files }

// Compile compiles one of the schemas.
func Compile(name string) (*jsonschema.Schema, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return c.Compile(name)
}

// Validate checks one JSON document against a compiled schema.
func Validate(s *jsonschema.Schema, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// ValidateRun checks the files of a record directory, every line of them.
// The error names the file and the line.
func ValidateRun(dir string) error {
	s, err := Compile(Record)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if err != nil {
		return err
	}
	if err := Validate(s, data); err != nil {
		return fmt.Errorf("record.json: %w", err)
	}
	return errors.Join(
		validateLines(dir, "samples.jsonl", SamplesLine),
		validateLines(dir, "events.jsonl", EventsLine),
		validateCaptures(dir))
}

// validateCaptures checks captures.json where there is one.
func validateCaptures(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "captures.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := Compile(Captures)
	if err != nil {
		return err
	}
	if err := Validate(s, data); err != nil {
		return fmt.Errorf("captures.json: %w", err)
	}
	return nil
}

func validateLines(dir, name, schema string) error {
	s, err := Compile(schema)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := Validate(s, line); err != nil {
				return fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
