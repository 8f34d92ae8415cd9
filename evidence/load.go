package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Run is a record with its samples and events, as loaded.
type Run struct {
	Dir    string
	Record *Record
	// Lines are those of whole rounds, in the order of the file.
	Lines []Line
	// Events are in the order of the file.
	Events []Event
	// Captures are what profilers saw after the rounds; most runs have none.
	Captures []Capture
	// Warnings say what is amiss and was left out; none means nothing is.
	Warnings []Warning

	cells   []Cell
	rounds  map[Cell][]Round
	samples tail
	events  tail
}

// The kinds of Warning.
const (
	TornLine     = "torn-line"     // a write was cut short by a kill; the fragment is left out
	PartialRound = "partial-round" // lines of a round that was not written whole are left out
	TornAside    = "torn-aside"    // such leftovers were moved aside when the run was resumed
	NoEvents     = "no-events"     // events.jsonl is missing
	SpecHash     = "spec-hash"     // the spec's text does not have the spec's hash
	UnknownCell  = "unknown-cell"  // a line names a case or an arm that the record lacks
	NotFinished  = "not-finished"  // the run was killed, or is still being written
	StoppedEarly = "stopped-early" // the run ended before all that was planned
)

// Warning is something amiss with a record that does not keep it from being
// read. Count says how many lines it concerns, where that makes sense.
type Warning struct {
	What   string
	Count  int
	Detail string
}

func (w Warning) String() string { return w.What + ": " + w.Detail }

// LoadRecord reads record.json alone. Its errors are *NotRecordError,
// *SchemaError and *CorruptError.
func LoadRecord(dir string) (*Record, error) {
	path := filepath.Join(dir, RecordFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem := "it holds no " + RecordFile
		if _, err := os.Stat(dir); err != nil {
			problem = "no such directory"
		}
		return nil, &NotRecordError{Dir: dir, Problem: problem}
	case err != nil:
		if info, e := os.Stat(dir); e == nil && !info.IsDir() {
			return nil, &NotRecordError{Dir: dir, Problem: "it is a file"}
		}
		return nil, fmt.Errorf("read a record: %w", err)
	}
	var version struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, corrupt(path, data, err)
	}
	if version.Schema == nil || *version.Schema < 1 {
		return nil, &NotRecordError{Dir: dir, Problem: RecordFile + " names no schema version"}
	}
	if *version.Schema > Schema {
		return nil, &SchemaError{Dir: dir, Found: *version.Schema, Supported: Schema}
	}
	rec := new(Record)
	if err := json.Unmarshal(data, rec); err != nil {
		return nil, corrupt(path, data, err)
	}
	return rec, nil
}

// corrupt locates a JSON error.
func corrupt(path string, data []byte, err error) *CorruptError {
	offset := int64(len(data))
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = min(syntax.Offset, offset)
	case errors.As(err, &kind):
		offset = min(kind.Offset, offset)
	}
	return &CorruptError{File: path, Line: 1 + bytes.Count(data[:offset], []byte("\n")), Offset: offset, Err: err}
}

// Load reads a record whole. A write that a kill cut short, at the end of a
// file, is left out and counted in Warnings. Beyond LoadRecord's errors it
// returns a *MissingError without samples.jsonl, a *CorruptError for content
// that no kill explains, and a *DuplicateError for a cell that occurs twice.
func Load(dir string) (*Run, error) {
	rec, err := LoadRecord(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Record: rec}
	if err := r.loadSamples(); err != nil {
		return nil, err
	}
	if err := r.loadEvents(); err != nil {
		return nil, err
	}
	if r.Captures, err = LoadCaptures(dir); err != nil {
		return nil, err
	}
	if err := r.index(); err != nil {
		return nil, err
	}
	r.checkRecord()
	return r, nil
}

// tail is the end of a file that a kill left unfinished.
type tail struct {
	good        int64 // length of what precedes it
	bytes       int64
	unended     bool // the last good line lacks its newline
	torn, whole int  // lines that do not parse, and lines that do
	firstLine   int
}

func (t tail) warn(r *Run, file string) {
	if t.torn > 0 {
		r.warn(TornLine, t.torn, "%s ends in the middle of a write: the last %d bytes, from line %d on, are left out", file, t.bytes, t.firstLine)
	}
	if t.whole > 0 {
		r.warn(PartialRound, t.whole, "%s ends in the middle of a round: %d of its lines, from line %d on, are left out", file, t.whole, t.firstLine)
	}
}

func (r *Run) warn(what string, count int, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{What: what, Count: count, Detail: fmt.Sprintf(format, args...)})
}

func (r *Run) loadSamples() error {
	path := filepath.Join(r.Dir, SamplesFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{Dir: r.Dir, File: SamplesFile, Err: err}
	}
	if err != nil {
		return fmt.Errorf("read the samples: %w", err)
	}
	lines := splitLines(data)
	parsed, failed := parseLines(data, lines)
	r.Lines, r.samples, err = wholeRounds(path, data, lines, parsed, failed)
	if err != nil {
		return err
	}
	r.samples.warn(r, SamplesFile)
	return nil
}

func (r *Run) loadEvents() error {
	path := filepath.Join(r.Dir, EventsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.warn(NoEvents, 0, "%s is missing", EventsFile)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the events: %w", err)
	}
	lines := splitLines(data)
	bad := -1
	for i, s := range lines {
		var e Event
		if err := json.Unmarshal(data[s.from:s.to], &e); err != nil {
			// Only the last line can be one that a kill cut short.
			if i < len(lines)-1 {
				c := corrupt(path, data[:s.to], err)
				c.Line, c.Offset = s.number, s.from
				return c
			}
			bad = i
			break
		}
		r.Events = append(r.Events, e)
	}
	r.events = newTail(data, lines, bad)
	if bad >= 0 {
		r.events.torn = 1
	}
	r.events.warn(r, EventsFile)
	return nil
}

func (r *Run) checkRecord() {
	rec := r.Record
	for _, name := range []string{SamplesFile, EventsFile} {
		if info, err := os.Stat(filepath.Join(r.Dir, name+tornSuffix)); err == nil {
			r.warn(TornAside, 0, "%s holds %d bytes of writes that were cut short before a resume", name+tornSuffix, info.Size())
		}
	}
	switch rec.Status {
	case Running:
		r.warn(NotFinished, 0, "the run was killed or is still being written")
	case Incomplete:
		r.warn(StoppedEarly, 0, "the run is incomplete: %s", rec.Reason)
	}
	if s := rec.Spec; !s.Redacted && !strings.EqualFold(s.SHA256, hash(s.Text)) {
		r.warn(SpecHash, 0, "the text of spec %s does not have its hash %.12s", s.Name, s.SHA256)
	}
	known := map[string]bool{}
	for _, c := range rec.Cases {
		known["case "+c.ID] = true
	}
	for _, a := range rec.Arms {
		known["arm "+a.ID] = true
	}
	unknown := map[string]int{}
	for i := range r.Lines {
		if c := r.Lines[i].Case; !known["case "+c] {
			unknown["case "+c]++
		}
		if a := r.Lines[i].Arm; !known["arm "+a] {
			unknown["arm "+a]++
		}
	}
	for name, n := range unknown {
		r.warn(UnknownCell, n, "%d lines name the %s, which the record does not describe", n, name)
	}
}
