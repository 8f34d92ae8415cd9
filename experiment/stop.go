package experiment

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"mage/evidence"
	"mage/stats"
)

// stopper ends the rounds of a case early when its spec asks for that. It judges
// as a report will: by the same rounds, options and level, so that a case that
// stopped because it was decided is not undecided there. Its zero value never
// stops.
type stopper struct {
	spec  *Spec
	rule  *stats.Sequential
	cells []evidence.Cell
	// counted holds the medians by arm of every round that counts: of its last
	// attempt at the cell in which no arm was disturbed.
	counted map[evidence.Cell]map[int]map[string]float64
}

// pair is what is compared: a row of the table in each cell.
type pair struct{ arm, baseline arm }

func (r *runner) newStopper(w *caseWork) (*stopper, error) {
	s := &stopper{spec: r.spec}
	if r.spec.Stop == nil {
		return s, nil
	}
	for _, m := range r.modes {
		for _, c := range r.spec.Caches {
			s.cells = append(s.cells, evidence.Cell{Case: w.id, Mode: m.String(), Cache: c})
		}
	}
	// The report judges all cases as one table, so the rule must too.
	cases, err := r.spec.Plan()
	if err != nil {
		return nil, err
	}
	offered := slices.DeleteFunc(slices.Clone(r.arms), func(a arm) bool { return a.impl == nil || a.untimed != nil })
	rows := len(r.spec.pairs(offered)) * len(s.cells) * len(cases)
	if rows == 0 {
		return s, nil
	}
	s.rule, err = stats.NewSequential(stats.SequentialOptions{
		MinRounds: max(r.spec.Rounds, stats.VerdictRounds), MaxRounds: max(r.spec.Stop.MaxRounds, stats.VerdictRounds),
		Alpha: 1 - r.spec.Confidence, Rows: rows,
	})
	if err != nil {
		return nil, fmt.Errorf("stopping rule: %w", err)
	}
	// A resumed case continues with the rounds that it has.
	s.counted = map[evidence.Cell]map[int]map[string]float64{}
	for _, c := range s.cells {
		for _, attempt := range r.state.Rounds(c) {
			for _, l := range attempt.Lines {
				s.count(l)
			}
		}
	}
	return s, nil
}

// pairs lists which arms are compared with which: on each device, with the first
// baseline that takes part. Controls are not rows; they give the resolution.
func (s *Spec) pairs(arms []arm) []pair {
	base := map[string]arm{}
	for _, name := range s.Baseline {
		for _, a := range arms {
			if a.spec == name && a.ControlOf == "" && base[a.Device].ID == "" {
				base[a.Device] = a
			}
		}
	}
	var out []pair
	for _, a := range arms {
		if b := base[a.Device]; b.ID != "" && b.ID != a.ID && a.ControlOf == "" {
			out = append(out, pair{a, b})
		}
	}
	return out
}

// add takes in an attempt at a round.
func (s *stopper) add(attempt []evidence.Line) {
	if s.rule == nil {
		return
	}
	disturbed := map[evidence.Cell]bool{}
	for _, l := range attempt {
		c := evidence.Cell{Case: l.Case, Mode: l.Mode, Cache: l.Cache}
		disturbed[c] = disturbed[c] || len(l.Disturbed) > 0
	}
	for c, bad := range disturbed {
		if !bad {
			delete(s.counted[c], attempt[0].Round) // an earlier attempt
		}
	}
	for i := range attempt {
		if l := &attempt[i]; !disturbed[evidence.Cell{Case: l.Case, Mode: l.Mode, Cache: l.Cache}] {
			s.count(l)
		}
	}
}

func (s *stopper) count(l *evidence.Line) {
	c := evidence.Cell{Case: l.Case, Mode: l.Mode, Cache: l.Cache}
	if s.counted[c] == nil {
		s.counted[c] = map[int]map[string]float64{}
	}
	if s.counted[c][l.Round] == nil {
		s.counted[c][l.Round] = map[string]float64{}
	}
	s.counted[c][l.Round][l.Arm] = stats.Median(l.Samples)
}

// medians returns those of two arms in the rounds where both have one.
func (s *stopper) medians(c evidence.Cell, a, b string) (as, bs []float64) {
	for _, round := range slices.Sorted(maps.Keys(s.counted[c])) {
		x, measured := s.counted[c][round][a]
		y, both := s.counted[c][round][b]
		if measured && both {
			as, bs = append(as, x), append(bs, y)
		}
	}
	return as, bs
}

// look judges the case after a round and returns why the rounds should end, or "".
func (s *stopper) look(w *caseWork, round int, spent time.Duration) string {
	if s.spec.Stop == nil {
		return ""
	}
	if s.rule != nil && s.rule.Planned(round) {
		if rows := s.rows(w); len(rows) > 0 {
			if l, err := s.rule.Look(round, rows...); err == nil && l.Stop {
				return l.Reason
			}
		}
	}
	if limit := s.spec.Stop.MaxTime.Duration; limit > 0 && spent > limit {
		return fmt.Sprintf("max_time = %s is spent after %d rounds", limit, round)
	}
	return ""
}

// rows compares the arms that have not failed, in every cell that both measured.
func (s *stopper) rows(w *caseWork) []stats.Comparison {
	var sound []arm
	for _, e := range w.entrants {
		if e.timed() {
			sound = append(sound, e.arm)
		}
	}
	var rows []stats.Comparison
	for _, c := range s.cells {
		measured := slices.DeleteFunc(slices.Clone(sound), func(a arm) bool {
			here, _ := s.medians(c, a.ID, a.ID)
			return len(here) == 0 // the cell is unavailable to it
		})
		for _, p := range s.spec.pairs(measured) {
			arm, base := s.medians(c, p.arm.ID, p.baseline.ID)
			if len(arm) == 0 {
				continue
			}
			o := s.options()
			o.Margin, o.Resolution = s.spec.Margin, s.resolution(c, p.baseline.Device, sound)
			if row, err := stats.Paired(arm, base, o); err == nil {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// options of a comparison, but for margin and resolution. The report's intervals
// come from the same seed.
func (s *stopper) options() stats.Options {
	return stats.Options{Confidence: s.spec.Confidence, Seed: s.spec.Seed}
}

// resolution is the largest that a device's controls give, 0 where there is none.
func (s *stopper) resolution(c evidence.Cell, device string, sound []arm) (effect float64) {
	for _, a := range sound {
		if a.ControlOf == "" || a.Device != device {
			continue
		}
		control, twin := s.medians(c, a.ID, a.ControlOf)
		if len(control) < 2 {
			continue // no interval, no resolution
		}
		if r, err := stats.NewResolution(control, twin, 0, s.options()); err == nil {
			effect = max(effect, r.Effect)
		}
	}
	return effect
}
