package evidence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// State is what a resumed run already holds. Partial rounds are not in it.
type State struct {
	*Run
}

// Complete reports how many attempts at a round of a case are on disk whole, and
// whether every cell they measured has an undisturbed one. No attempt means that
// the round has to be measured; attempts but not done, that it may be tried again.
func (s *State) Complete(caseID string, round int) (attempts int, done bool) {
	done = true
	for cell := range s.rounds {
		if cell.Case != caseID {
			continue
		}
		if tried := s.attempts(cell, round); len(tried) > 0 {
			attempts = max(attempts, tried[len(tried)-1].Attempt)
			done = done && s.Done(cell, round)
		}
	}
	return attempts, done && attempts > 0
}

// Done reports whether a cell has an undisturbed attempt at a round on disk.
func (s *State) Done(c Cell, round int) bool {
	return slices.ContainsFunc(s.attempts(c, round), func(a Round) bool { return a.Disturbed() == nil })
}

// attempts finds the attempts at one round of a cell.
func (s *State) attempts(c Cell, round int) []Round {
	all := s.rounds[c]
	before := func(a Round, n int) int { return a.Round - n }
	from, _ := slices.BinarySearchFunc(all, round, before)
	to, _ := slices.BinarySearchFunc(all, round+1, before)
	return all[from:to]
}

// Resume opens an unfinished run to append to it in a session of its own, which
// it enters into the record. What a kill left unfinished at the end of a file
// is moved to a file of the same name with ".torn" added, so that every line of
// samples.jsonl and events.jsonl remains valid and of a whole round.
//
// It returns a *CompleteError for a complete run, a *LockedError for one that a
// process is writing, and Load's errors.
func Resume(dir string) (*Writer, *State, error) {
	if _, err := LoadRecord(dir); err != nil {
		return nil, nil, err
	}
	w := &Writer{dir: filepath.Clean(dir), machine: thisMachine(), written: map[cellKey]struct{}{}}
	var err error
	if w.lock, err = lock(dir); err != nil {
		return nil, nil, resumeError(err)
	}
	state, err := w.resume()
	if err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return w, state, nil
}

func resumeError(err error) error {
	var locked *LockedError
	if errors.As(err, &locked) {
		return err
	}
	return fmt.Errorf("resume the run: %w", err)
}

// resume works under the lock: nothing was written since the load in it.
func (w *Writer) resume() (*State, error) {
	run, err := Load(w.dir)
	if err != nil {
		return nil, err
	}
	if run.Record.Status == Complete {
		return nil, &CompleteError{Dir: w.dir}
	}
	os.Remove(filepath.Join(w.dir, tempName(RecordFile))) // a rewrite that a kill cut short
	for name, t := range map[string]tail{SamplesFile: run.samples, EventsFile: run.events} {
		if t.bytes > 0 {
			if err := setAside(w.dir, name, t.good); err != nil {
				return nil, fmt.Errorf("resume the run: move the end of %s aside: %w", name, err)
			}
		}
	}
	for i := range run.Lines {
		w.written[keyOf(&run.Lines[i])] = struct{}{}
	}
	rec := *run.Record
	rec.Schema, rec.Status, rec.Reason, rec.Updated = Schema, Running, "", time.Now()
	next := 1
	for _, s := range rec.Sessions {
		next = max(next, s.ID+1)
	}
	rec.Sessions = append(rec.Sessions[:len(rec.Sessions):len(rec.Sessions)], Session{ID: next, Started: time.Now()})
	if err := w.start(rec); err != nil {
		return nil, fmt.Errorf("resume the run: %w", err)
	}
	for j, t := range map[*journal]tail{w.samples: run.samples, w.events: run.events} {
		if t.unended { // whole, but for its newline
			if err := j.append([]byte("\n")); err != nil {
				return nil, fmt.Errorf("resume the run: %w", err)
			}
		}
	}
	for _, warning := range run.Warnings {
		if warning.What == TornLine || warning.What == PartialRound {
			if err := w.event(Event{Level: "warning", What: warning.What, Detail: warning.Detail}); err != nil {
				return nil, err
			}
		}
	}
	saved := w.rec
	run.Record = &saved
	return &State{Run: run}, errors.Join(w.samples.sync(), w.events.sync())
}
