package evidence

import (
	"fmt"
	"strings"
)

// NotRecordError reports a directory that holds no record.
type NotRecordError struct {
	Dir     string
	Problem string
}

func (e *NotRecordError) Error() string {
	return fmt.Sprintf("%s is not a record directory: %s", e.Dir, e.Problem)
}

// SchemaError reports a record written in a later format than this mage reads.
type SchemaError struct {
	Dir       string
	Found     int
	Supported int
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s has record schema %d, this mage reads schemas up to %d: use a newer mage to read it",
		e.Dir, e.Found, e.Supported)
}

// CorruptError reports content that no kill can explain: the file was changed,
// or the disk lost part of it. Line is from 1, Offset in bytes from 0.
type CorruptError struct {
	File   string
	Line   int
	Offset int64
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s:%d: corrupt at byte %d: %v", e.File, e.Line, e.Offset, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// MissingError reports a record directory that lacks one of its files.
type MissingError struct {
	Dir  string
	File string
	Err  error
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the record %s has lost its %s: restore it from a copy, the record alone holds no samples", e.Dir, e.File)
}

func (e *MissingError) Unwrap() error { return e.Err }

// DuplicateError reports one cell that occurs twice: in a file (Line and First
// say where), or in a round that was about to be appended (both are zero).
type DuplicateError struct {
	File        string
	Line, First int
	Cell        string // "case, arm, mode, cache, round N, attempt N"
}

func (e *DuplicateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("round refused: the record already holds %s", e.Cell)
	}
	return fmt.Sprintf("%s:%d: repeats %s of line %d: a record holds every cell once", e.File, e.Line, e.Cell, e.First)
}

// LockedError reports a run that another process is writing.
type LockedError struct{ Dir string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is being written by another process", e.Dir)
}

// CompleteError reports a run that cannot be resumed because it is complete.
type CompleteError struct{ Dir string }

func (e *CompleteError) Error() string {
	return fmt.Sprintf("%s is complete and is never written again: start a new run", e.Dir)
}

// RoundLostError reports a round that could not be put on disk. Every earlier
// round is safe. Retry says whether the file was restored, so that the same
// round may be appended again once the cause (a full disk, say) is gone.
type RoundLostError struct {
	Case           string
	Round, Attempt int
	Retry          bool
	Err            error
}

func (e *RoundLostError) Error() string {
	then := "every earlier round is safe"
	if !e.Retry {
		then += "; resume the run to go on"
	}
	return fmt.Sprintf("round %d (attempt %d) of %s is lost: %v; %s", e.Round, e.Attempt, e.Case, e.Err, then)
}

func (e *RoundLostError) Unwrap() error { return e.Err }

// ValueError reports a value that evidence cannot hold. A non-finite sample is
// an error of the measurement, never a number.
type ValueError struct {
	Field   string // "samples[3]", "entries[0].gates[1].max_abs_error"
	Problem string
}

func (e *ValueError) Error() string { return e.Field + " " + e.Problem }

// PortabilityError reports a path, user or host of this machine in a field that
// must be the same on every machine.
type PortabilityError struct {
	Field string
	Found []string
}

func (e *PortabilityError) Error() string {
	return fmt.Sprintf("%s would put something of this machine into the record: %s", e.Field, strings.Join(e.Found, ", "))
}
