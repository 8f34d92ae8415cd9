package evidence

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Cell is what is measured side by side by every arm: a case in one timing mode
// and cache state.
type Cell struct{ Case, Mode, Cache string }

func (c Cell) String() string { return c.Case + " " + c.Mode + " " + c.Cache }

// Round is one attempt at one round of one cell: a line per arm, in the order
// of the file. It is the unit of pairing: ratios are taken inside it.
type Round struct {
	Session, Round, Attempt int
	Lines                   []*Line
}

// Line returns the arm's line, or nil when the arm did not take part.
func (r Round) Line(arm string) *Line {
	for _, l := range r.Lines {
		if l.Arm == arm {
			return l
		}
	}
	return nil
}

// Disturbed lists, once each, why the attempt does not count; nil when it does.
func (r Round) Disturbed() []string {
	var why []string
	for _, l := range r.Lines {
		for _, d := range l.Disturbed {
			if !slices.Contains(why, d) {
				why = append(why, d)
			}
		}
	}
	return why
}

// index builds the rounds of every cell and refuses a cell that occurs twice.
func (r *Run) index() error {
	r.rounds = map[Cell][]Round{}
	type id struct {
		cell           Cell
		round, attempt int
	}
	places := map[id]int{} // index in rounds[cell]
	for i := range r.Lines {
		l := &r.Lines[i]
		cell := Cell{l.Case, l.Mode, l.Cache}
		if _, ok := r.rounds[cell]; !ok {
			r.cells = append(r.cells, cell)
		}
		key := id{cell, l.Round, l.Attempt}
		at, ok := places[key]
		if !ok {
			at = len(r.rounds[cell])
			places[key] = at
			r.rounds[cell] = append(r.rounds[cell], Round{Session: l.Session, Round: l.Round, Attempt: l.Attempt})
		}
		round := &r.rounds[cell][at]
		if first := round.Line(l.Arm); first != nil {
			return &DuplicateError{File: filepath.Join(r.Dir, SamplesFile), Line: r.lineNumber(l), First: r.lineNumber(first),
				Cell: keyOf(l).String()}
		}
		round.Lines = append(round.Lines, l)
	}
	for _, rounds := range r.rounds {
		slices.SortStableFunc(rounds, func(a, b Round) int {
			if a.Round != b.Round {
				return a.Round - b.Round
			}
			return a.Attempt - b.Attempt
		})
	}
	return nil
}

// lineNumber counts from 1; whole rounds stand at the start of the file.
func (r *Run) lineNumber(l *Line) int {
	for i := range r.Lines {
		if &r.Lines[i] == l {
			return i + 1
		}
	}
	panic(fmt.Sprintf("evidence: a line of %s that is not the run's", r.Dir))
}

// Cells lists the cells that have samples, in the order of the file.
func (r *Run) Cells() []Cell { return r.cells }

// Attempts returns every attempt at every round of a cell, disturbed or not, by
// round and attempt.
func (r *Run) Attempts(c Cell) []Round { return r.rounds[c] }

// Rounds returns the rounds of a cell that count, by number: of each the last
// attempt in which no arm was disturbed. A round without one is left out.
func (r *Run) Rounds(c Cell) []Round {
	var out []Round
	for _, a := range r.rounds[c] {
		if a.Disturbed() != nil {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Round == a.Round {
			out[n-1] = a
		} else {
			out = append(out, a)
		}
	}
	return out
}

// Arms lists the arms that have samples in a cell, in the record's order (those
// that the record lacks come last).
func (r *Run) Arms(c Cell) []string {
	seen := map[string]bool{}
	var found, out []string
	for _, a := range r.rounds[c] {
		for _, l := range a.Lines {
			if !seen[l.Arm] {
				seen[l.Arm] = true
				found = append(found, l.Arm)
			}
		}
	}
	for _, a := range r.Record.Arms {
		if seen[a.ID] {
			out = append(out, a.ID)
			delete(seen, a.ID)
		}
	}
	for _, a := range found {
		if seen[a] {
			out = append(out, a)
		}
	}
	return out
}
