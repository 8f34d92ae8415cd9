package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Writer appends to one run. It is the only one: it holds the lock of the run's
// directory until Close. Its methods may be called from several goroutines.
type Writer struct {
	dir     string
	machine machine

	mu       sync.Mutex
	lock     *os.File // nil once closed
	rec      Record   // portable at all times
	session  int
	finished bool
	samples  *journal
	events   *journal
	written  map[cellKey]struct{}
	buf      []byte
}

// cellKey is what a record holds once.
type cellKey struct {
	cell           Cell
	arm            string
	round, attempt int
}

func (k cellKey) String() string {
	return fmt.Sprintf("case %s, arm %s, mode %s, cache %s, round %d, attempt %d",
		k.cell.Case, k.arm, k.cell.Mode, k.cell.Cache, k.round, k.attempt)
}

func keyOf(l *Line) cellKey {
	return cellKey{Cell{l.Case, l.Mode, l.Cache}, l.Arm, l.Round, l.Attempt}
}

// open locks dir, writes rec to it and opens its journals. The Writer that
// comes with an error can be closed and nothing else.
func open(dir string, rec Record) (*Writer, error) {
	w := &Writer{dir: dir, machine: thisMachine(), written: map[cellKey]struct{}{}}
	var err error
	if w.lock, err = lock(dir); err != nil {
		return w, err
	}
	return w, w.start(rec)
}

// start opens the journals and writes rec, whose last session is this one.
func (w *Writer) start(rec Record) error {
	var err error
	if w.samples, err = openJournal(filepath.Join(w.dir, SamplesFile)); err != nil {
		return err
	}
	if w.events, err = openJournal(filepath.Join(w.dir, EventsFile)); err != nil {
		return err
	}
	if w.rec, err = w.machine.portable(rec); err != nil {
		return err
	}
	w.session = rec.Sessions[len(rec.Sessions)-1].ID
	return w.save()
}

// Dir is the run's directory.
func (w *Writer) Dir() string { return w.dir }

// RunID is the run's name in its namespace.
func (w *Writer) RunID() string { return w.rec.RunID }

// Session is the number of the session that this Writer appends to.
func (w *Writer) Session() int { return w.session }

// AppendRound appends the lines of one attempt at one round of one case, in one
// write followed by one sync: when it returns nil they are on disk, and a kill
// in it leaves a round that readers know to be partial. It sets Session, Part,
// Of and an empty Unit on what it writes; lines itself is not changed.
//
// It refuses a line without samples or with a sample that is not finite
// (*ValueError) and a cell that the record already holds (*DuplicateError); the
// record is then as it was. A *RoundLostError says that the disk failed.
func (w *Writer) AppendRound(lines []Line) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("append a round"); err != nil {
		return err
	}
	keys, err := w.checkRound(lines)
	if err != nil {
		return err
	}
	w.buf = w.buf[:0]
	for i := range lines {
		l := lines[i]
		l.Session, l.Part, l.Of = w.session, i+1, len(lines)
		if l.Unit == "" {
			l.Unit = "us"
		}
		if l.Disturbed != nil {
			l.Disturbed = w.prose(l.Disturbed)
		}
		if w.buf, err = appendLine(w.buf, &l); err != nil {
			return fmt.Errorf("round %d of %s, arm %s, mode %s: %w", l.Round, l.Case, l.Arm, l.Mode, err)
		}
	}
	before := w.samples.size
	if err = w.samples.append(w.buf); err == nil {
		if err = w.samples.sync(); err != nil {
			// What was not synced may not be counted: best effort, the file is in doubt.
			w.samples.size = before
			w.samples.f.Truncate(before)
		}
	}
	if err != nil {
		return &RoundLostError{Case: lines[0].Case, Round: lines[0].Round, Attempt: lines[0].Attempt,
			Retry: w.samples.broken == nil, Err: err}
	}
	for _, k := range keys {
		w.written[k] = struct{}{}
	}
	if err := w.events.sync(); err != nil {
		return fmt.Errorf("the round is safe, the events before it may not be: %w", err)
	}
	return nil
}

func (w *Writer) checkRound(lines []Line) ([]cellKey, error) {
	if len(lines) == 0 {
		return nil, errors.New("append a round: it has no lines")
	}
	first := &lines[0]
	keys := make([]cellKey, len(lines))
	round := make(map[cellKey]struct{}, len(lines))
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Case == "" || l.Arm == "" || l.Mode == "" || l.Cache == "":
			return nil, fmt.Errorf("append a round: line %d lacks its case, arm, mode or cache state", i)
		case l.Round < 1 || l.Attempt < 1:
			return nil, fmt.Errorf("append a round: line %d is of round %d, attempt %d; both count from 1", i, l.Round, l.Attempt)
		case l.Case != first.Case || l.Round != first.Round || l.Attempt != first.Attempt:
			return nil, fmt.Errorf("append a round: line %d is of another case, round or attempt than line 0", i)
		case l.Unit != "" && l.Unit != "us":
			return nil, &ValueError{Field: "unit", Problem: fmt.Sprintf("is %q: samples are microseconds (\"us\")", l.Unit)}
		case len(l.Samples) == 0:
			return nil, &ValueError{Field: "samples", Problem: fmt.Sprintf("is empty for %s", keyOf(l))}
		}
		keys[i] = keyOf(l)
		if _, ok := w.written[keys[i]]; ok {
			return nil, &DuplicateError{Cell: keys[i].String()}
		}
		if _, ok := round[keys[i]]; ok {
			return nil, &DuplicateError{Cell: keys[i].String()}
		}
		round[keys[i]] = struct{}{}
	}
	return keys, nil
}

func (w *Writer) prose(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = w.machine.text(t)
	}
	return out
}

// Event appends one event. It survives the process at once, and the machine
// with the next round, update or finish. Session, an empty level ("info") and a
// zero time are filled in.
func (w *Writer) Event(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("append an event"); err != nil {
		return err
	}
	return w.event(e)
}

func (w *Writer) event(e Event) error {
	e.Session = w.session
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if e.Level == "" {
		e.Level = "info"
	}
	e.Time = e.Time.UTC()
	e.What, e.Detail = w.machine.text(e.What), w.machine.text(e.Detail)
	var b bytes.Buffer
	if err := plainEncoder(&b).Encode(e); err != nil {
		return fmt.Errorf("append an event: %w", err)
	}
	return w.events.append(b.Bytes())
}

// plainEncoder leaves <, > and & as they are, for people who read the files.
func plainEncoder(b *bytes.Buffer) *json.Encoder {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc
}

// Update changes the record and rewrites record.json atomically. A change that
// a record cannot hold (*ValueError, *PortabilityError) is undone; one that the
// disk refused is kept in memory and goes out with the next write.
func (w *Writer) Update(change func(*Record)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("update the record"); err != nil {
		return err
	}
	return w.update(change)
}

func (w *Writer) update(change func(*Record)) error {
	// change gets a copy, so that a refused change leaves nothing behind.
	next, err := w.machine.portable(w.rec)
	if err != nil {
		return err
	}
	change(&next)
	next.Schema, next.Namespace, next.RunID, next.Created = w.rec.Schema, w.rec.Namespace, w.rec.RunID, w.rec.Created
	next.Updated = time.Now().UTC()
	if next, err = w.machine.portable(next); err != nil {
		return fmt.Errorf("update the record: %w", err)
	}
	w.rec = next
	return w.save()
}

func (w *Writer) save() error {
	var b bytes.Buffer
	enc := plainEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(w.rec); err != nil {
		return fmt.Errorf("encode the record: %w", err)
	}
	if err := writeAtomic(w.dir, RecordFile, b.Bytes()); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return nil
}

// Record returns a copy of the record as it is now.
func (w *Writer) Record() Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	rec, _ := w.machine.portable(w.rec) // w.rec has passed it already
	return rec
}

// Finish ends the session with the status Complete, or Incomplete and the
// reason. Nothing can be appended after it; Close is still due.
func (w *Writer) Finish(status, reason string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("finish the run"); err != nil {
		return err
	}
	if status != Complete && status != Incomplete {
		return fmt.Errorf("finish the run: status %q is neither %q nor %q", status, Complete, Incomplete)
	}
	if status == Incomplete && reason == "" {
		return errors.New("finish the run: an incomplete run needs a reason")
	}
	if err := errors.Join(w.samples.sync(), w.events.sync()); err != nil {
		return fmt.Errorf("finish the run: %w", err)
	}
	err := w.update(func(r *Record) {
		r.Status, r.Reason = status, reason
		s := &r.Sessions[len(r.Sessions)-1]
		s.Ended, s.Outcome = time.Now().UTC(), status
		if reason != "" {
			s.Outcome += ": " + reason
		}
	})
	w.finished = err == nil
	return err
}

// Close releases the run. Without Finish it leaves what a kill would leave: a
// record with the status Running that can be resumed. It may be called twice.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lock == nil {
		return nil
	}
	var errs []error
	for _, j := range []*journal{w.samples, w.events} {
		if j != nil {
			if j.broken == nil {
				errs = append(errs, j.sync())
			}
			errs = append(errs, j.f.Close())
		}
	}
	errs = append(errs, w.lock.Close())
	w.lock = nil
	return errors.Join(errs...)
}

func (w *Writer) usable(what string) error {
	if w.lock == nil {
		return fmt.Errorf("%s: %w", what, os.ErrClosed)
	}
	if w.finished {
		return fmt.Errorf("%s: the run is finished", what)
	}
	return nil
}
