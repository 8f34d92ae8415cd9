package ancestor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Error locates what is wrong with a file.
type Error struct {
	File         string // base name
	Line, Column int    // from 1
	Path         string // "results[0].rounds[1].order"; "" is the whole
	Problem      string
}

func (e *Error) Error() string {
	place := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Path != "" {
		place += e.Path + ": "
	}
	return place + e.Problem
}

// value is a JSON value and where it begins.
type value struct {
	data any // nil, bool, string, json.Number, []*value, *object
	at   int64
}

// object keeps the order of its keys, and which were looked at.
type object struct {
	keys   []string
	values map[string]*value
	used   map[string]bool
}

func newObject() *object { return &object{values: map[string]*value{}, used: map[string]bool{}} }

// maxDepth is far beyond what these files need.
const maxDepth = 64

// file is a file that is being read. The first problem is kept, and from then on
// everything reads as empty.
type file struct {
	name string
	data []byte
	root *value
	err  *Error
}

func (f *file) fail(at int64, path, format string, args ...any) {
	if f.err != nil {
		return
	}
	before := f.data[:min(max(at, 0), int64(len(f.data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	f.err = &Error{File: f.name, Line: line, Column: column, Path: path, Problem: fmt.Sprintf(format, args...)}
}

// parse reads the whole of f.data.
func (f *file) parse() {
	d := json.NewDecoder(bytes.NewReader(f.data))
	d.UseNumber()
	f.root = f.value(d, "", 0)
	if f.err == nil {
		at := f.start(d.InputOffset())
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			f.fail(at, "", "something follows the JSON document")
		}
	}
}

// start is where the next token begins.
func (f *file) start(at int64) int64 {
	for at < int64(len(f.data)) && strings.IndexByte(" \t\r\n:,", f.data[at]) >= 0 {
		at++
	}
	return at
}

func (f *file) token(d *json.Decoder, path string) (json.Token, int64, bool) {
	at := f.start(d.InputOffset())
	t, err := d.Token()
	if err == nil {
		return t, at, true
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.fail(int64(len(f.data)), path, "the file ends too early")
	case bytes.HasPrefix(f.data[at:], []byte("NaN")), bytes.HasPrefix(f.data[at:], []byte("Infinity")), bytes.HasPrefix(f.data[at:], []byte("-Infinity")):
		f.fail(at, path, "is not a finite number")
	default:
		f.fail(at, path, "%s", err)
	}
	return nil, at, false
}

func (f *file) value(d *json.Decoder, path string, depth int) *value {
	t, at, ok := f.token(d, path)
	v := &value{data: t, at: at}
	if !ok {
		return v
	}
	if depth > maxDepth {
		f.fail(at, path, "is nested deeper than %d levels", maxDepth)
		return v
	}
	switch t {
	case json.Delim('['):
		list := []*value{}
		for f.err == nil && d.More() {
			list = append(list, f.value(d, fmt.Sprintf("%s[%d]", path, len(list)), depth+1))
		}
		v.data = list
		f.token(d, path) // the closing bracket
	case json.Delim('{'):
		o := newObject()
		for f.err == nil && d.More() {
			key, at, ok := f.token(d, path)
			if !ok {
				break
			}
			name, _ := key.(string) // the decoder lets nothing else be a key
			if o.values[name] != nil {
				f.fail(at, join(path, name), "occurs twice")
				break
			}
			o.keys = append(o.keys, name)
			o.values[name] = f.value(d, join(path, name), depth+1)
		}
		v.data = o
		f.token(d, path)
	}
	return v
}

// join appends a key to a path.
func join(path, key string) string {
	simple := key != "" && !slices.ContainsFunc([]rune(key), func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	switch {
	case !simple:
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}
