package report

import (
	"fmt"
	"maps"
	"slices"

	"mage/evidence"
	"mage/timing"
)

// seriesKey identifies what may be summarised together: one arm on one case in
// one mode and cache state, read with one instrument.
type seriesKey struct {
	Case, Arm, Mode, Cache, Instrument string
}

// attemptID is one attempt at one round; only lines of the same attempt were
// interleaved with each other and can be paired.
type attemptID struct {
	session, round, attempt int
}

// series holds the lines of one key.
type series struct {
	seriesKey
	device     string
	operations int
	launches   int
	// counted has, of every round, the last undisturbed attempt.
	counted   []measured
	byAttempt map[attemptID]measured // lines of undisturbed attempts
	disturbed []*evidence.Line
	// removed counts lines whose arm failed in that session.
	removed  int
	replayUS []float64
}

// measured is a line with its median.
type measured struct {
	*evidence.Line
	median float64
}

// medians returns the median of every counted round, in order, µs.
func (s *series) medians() []float64 {
	out := make([]float64, len(s.counted))
	for i, m := range s.counted {
		out[i] = m.median
	}
	return out
}

// samples returns the samples of every counted round.
func (s *series) samples() [][]float64 {
	out := make([][]float64, len(s.counted))
	for i, m := range s.counted {
		out[i] = m.Samples
	}
	return out
}

func (s *series) sampleCount() (n int) {
	for _, m := range s.counted {
		n += len(m.Samples)
	}
	return n
}

// pair returns the medians of two series in the rounds where both have a line of
// the same undisturbed attempt: the last such attempt of each round.
func pair(a, b *series) (as, bs []float64) {
	last := map[int]attemptID{}
	for id := range a.byAttempt {
		_, both := b.byAttempt[id]
		if old, seen := last[id.round]; both && (!seen || id.attempt > old.attempt) {
			last[id.round] = id
		}
	}
	for _, round := range slices.Sorted(maps.Keys(last)) {
		id := last[round]
		as = append(as, a.byAttempt[id].median)
		bs = append(bs, b.byAttempt[id].median)
	}
	return as, bs
}

// collect sorts the lines of a run into series, in the order of the record's
// cases, modes, caches and arms.
func collect(run *evidence.Run) ([]*series, error) {
	rec := run.Record
	disturbed := disturbedAttempts(run.Lines)
	arms := map[string]*evidence.Arm{}
	for i := range rec.Arms {
		arms[rec.Arms[i].ID] = &rec.Arms[i]
	}
	cases := map[string]bool{}
	for _, c := range rec.Cases {
		cases[c.ID] = true
	}
	failed := failures(run)
	byKey := map[seriesKey]*series{}
	var all []*series
	for i := range run.Lines {
		l := &run.Lines[i]
		arm := arms[l.Arm]
		switch {
		case arm == nil || !cases[l.Case]:
			continue // nothing says what it is; strangers counts it
		case l.Unit != "us":
			return nil, fmt.Errorf("samples in unit %q; this tool reads \"us\"", l.Unit)
		}
		k := seriesKey{l.Case, l.Arm, l.Mode, l.Cache, l.Instrument}
		s := byKey[k]
		if s == nil {
			s = &series{seriesKey: k, device: arm.Device, operations: l.Operations, byAttempt: map[attemptID]measured{}}
			byKey[k] = s
			all = append(all, s)
		}
		s.launches = max(s.launches, l.Launches)
		switch {
		case failed[failureKey{l.Case, l.Arm, l.Session}] != "":
			s.removed++
		case disturbed[cellAttempt{l.Case, l.Mode, l.Cache, attemptID{l.Session, l.Round, l.Attempt}}]:
			s.disturbed = append(s.disturbed, l)
		case len(l.Samples) > 0:
			s.byAttempt[attemptID{l.Session, l.Round, l.Attempt}] = measured{Line: l}
		}
	}
	for _, s := range all {
		s.count()
	}
	sortSeries(all, rec)
	return all, nil
}

// strangers counts the lines that name an arm or a case that the record lacks.
func strangers(run *evidence.Run) (n int) {
	known := map[[2]string]bool{}
	for _, a := range run.Record.Arms {
		for _, c := range run.Record.Cases {
			known[[2]string{c.ID, a.ID}] = true
		}
	}
	for i := range run.Lines {
		if l := &run.Lines[i]; !known[[2]string{l.Case, l.Arm}] {
			n++
		}
	}
	return n
}

// cellAttempt is an attempt at a round of one case, mode and cache state.
type cellAttempt struct {
	Case, Mode, Cache string
	attemptID
}

// disturbedAttempts finds the attempts in which any arm was disturbed: none of
// their lines count, because the arms of a round are compared with each other.
func disturbedAttempts(lines []evidence.Line) map[cellAttempt]bool {
	out := map[cellAttempt]bool{}
	for i := range lines {
		if l := &lines[i]; len(l.Disturbed) > 0 {
			out[cellAttempt{l.Case, l.Mode, l.Cache, attemptID{l.Session, l.Round, l.Attempt}}] = true
		}
	}
	return out
}

// count settles which attempt of every round counts.
func (s *series) count() {
	var scratch []float64
	for id, m := range s.byAttempt {
		scratch = append(scratch[:0], m.Samples...)
		m.median = median(scratch)
		s.byAttempt[id] = m
		s.counted = append(s.counted, m)
	}
	// A round that was interrupted is tried again in the next session, which goes
	// on counting its attempts.
	slices.SortFunc(s.counted, func(x, y measured) int {
		if x.Round != y.Round {
			return x.Round - y.Round
		}
		return y.Attempt - x.Attempt
	})
	s.counted = slices.CompactFunc(s.counted, func(x, y measured) bool {
		return x.Round == y.Round
	})
	for _, m := range s.counted {
		s.replayUS = append(s.replayUS, m.ReplayUS...)
	}
}

// median sorts x and returns its middle value.
func median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return (x[n/2-1] + x[n/2]) / 2
}

type failureKey struct {
	Case, Arm string
	Session   int
}

// ungated is why samples are not compared of which the record does not say that
// their arm passed the gate in that session.
const ungated = "gate: the record holds none that was passed before these samples"

// failures says why an arm's samples of a case and session are not compared.
func failures(run *evidence.Run) map[failureKey]string {
	out, gated := map[failureKey]string{}, map[failureKey]bool{}
	for _, e := range run.Record.Entries {
		k := failureKey{e.Case, e.Arm, e.Session}
		gated[k] = len(e.Gates) > 0
		if e.Error != "" {
			out[k] = e.Error
			continue
		}
		for _, g := range e.Gates {
			if !g.Passed {
				out[k] = "gate (" + g.Stage + "): " + g.Failure
			}
		}
	}
	if run.Record.Imported != nil {
		return out // another program's gate, of which it may have published nothing
	}
	for i := range run.Lines {
		l := &run.Lines[i]
		if k := (failureKey{l.Case, l.Arm, l.Session}); !gated[k] && out[k] == "" {
			out[k] = ungated
		}
	}
	return out
}

// sortSeries orders series as the record lists their parts.
func sortSeries(all []*series, rec *evidence.Record) {
	rank := func(list []string) map[string]int {
		m := map[string]int{}
		for i, s := range list {
			m[s] = i + 1
		}
		return m
	}
	var caseIDs, armIDs, deviceIDs []string
	for _, c := range rec.Cases {
		caseIDs = append(caseIDs, c.ID)
	}
	for _, a := range rec.Arms {
		armIDs = append(armIDs, a.ID)
	}
	for _, d := range rec.Devices {
		deviceIDs = append(deviceIDs, d.ID)
	}
	byCase, byArm, byDevice := rank(caseIDs), rank(armIDs), rank(deviceIDs)
	byMode, byCache := rank(rec.Plan.Modes), rank(rec.Plan.Caches)
	instruments := rank([]string{string(timing.CUDAEvent), string(timing.CUPTI), string(timing.HostClock)})
	key := func(s *series) [6]int {
		return [6]int{byCase[s.Case], byMode[s.Mode], byCache[s.Cache],
			instruments[s.Instrument], -byDevice[s.device], byArm[s.Arm]}
	}
	slices.SortStableFunc(all, func(a, b *series) int {
		x, y := key(a), key(b)
		return slices.Compare(x[:], y[:])
	})
}
