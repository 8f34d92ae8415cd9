package experiment

import (
	"fmt"
	"slices"
	"time"

	"mage/evidence"
	"mage/stats"
)

// stopper ends the rounds of a case early when its spec asks for that. Its zero
// value never does.
type stopper struct {
	spec  *Spec
	rule  *stats.Sequential
	pairs []pair // what is compared: one row of the rule each, per cell
	// medians of every round by arm and cell.
	medians map[cellArm][]float64
}

type pair struct{ arm, baseline string }

type cellArm struct{ cell, arm string }

func (r *runner) newStopper(w *caseWork) (*stopper, error) {
	s := &stopper{spec: r.spec}
	if r.spec.Stop == nil {
		return s, nil
	}
	s.medians = map[cellArm][]float64{}
	s.pairs = r.spec.pairs(w.entrants)
	// The report judges all cases as one table, so the rule must too: a case that
	// stopped because it was decided must not be undecided there.
	cases, err := r.spec.Plan()
	if err != nil {
		return nil, err
	}
	rows := len(s.pairs) * len(r.modes) * len(r.spec.Caches) * len(cases)
	if rows == 0 {
		return &stopper{spec: r.spec}, nil
	}
	rule, err := stats.NewSequential(stats.SequentialOptions{
		MinRounds: max(r.spec.Rounds, stats.VerdictRounds), MaxRounds: max(r.spec.Stop.MaxRounds, stats.VerdictRounds),
		Alpha: 1 - r.spec.Confidence, Rows: rows,
	})
	if err != nil {
		return nil, fmt.Errorf("stopping rule: %w", err)
	}
	s.rule = rule
	// A resumed case continues with the rounds that it has.
	for round := 1; round < r.nextRound(w.id); round++ {
		attempts, _ := r.state.Complete(w.id, round)
		for _, l := range r.state.Lines {
			if l.Case == w.id && l.Round == round && l.Attempt == attempts {
				s.add(l)
			}
		}
	}
	return s, nil
}

// pairs lists which arms are compared with which: on each device, with the first
// baseline that takes part. Controls are not rows; they give the resolution.
func (s *Spec) pairs(entrants []*entrant) []pair {
	base := map[string]string{}
	for _, name := range s.Baseline {
		for _, e := range entrants {
			if e.arm.spec == name && e.arm.ControlOf == "" && base[e.arm.Device] == "" && e.op != nil {
				base[e.arm.Device] = e.arm.ID
			}
		}
	}
	var out []pair
	for _, e := range entrants {
		if b := base[e.arm.Device]; b != "" && b != e.arm.ID && e.arm.ControlOf == "" && e.op != nil {
			out = append(out, pair{e.arm.ID, b})
		}
	}
	return out
}

func (s *stopper) add(l evidence.Line) {
	k := cellArm{l.Mode + " " + l.Cache, l.Arm}
	s.medians[k] = append(s.medians[k], stats.Median(l.Samples))
}

// look takes in a finished round and returns why the rounds should end, or "".
func (s *stopper) look(round int, lines []evidence.Line, spent time.Duration) string {
	if s.rule == nil {
		return ""
	}
	var cells []string
	for _, l := range lines {
		s.add(l)
		if c := l.Mode + " " + l.Cache; !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	var rows []stats.Comparison
	for _, c := range cells {
		for _, p := range s.pairs {
			arm, base := s.medians[cellArm{c, p.arm}], s.medians[cellArm{c, p.baseline}]
			if len(arm) != round || len(base) != round {
				continue // the cell is unavailable to one of them
			}
			row, err := stats.Paired(arm, base, stats.Options{Confidence: s.spec.Confidence,
				Margin: s.spec.Margin, Resolution: s.resolution(c, p.baseline)})
			if err == nil {
				rows = append(rows, row)
			}
		}
	}
	if len(rows) > 0 && s.rule.Planned(round) {
		if l, err := s.rule.Look(round, rows...); err == nil && l.Stop {
			return l.Reason
		}
	}
	if limit := s.spec.Stop.MaxTime.Duration; limit > 0 && spent > limit {
		return fmt.Sprintf("max_time = %s is spent after %d rounds", limit, round)
	}
	return ""
}

// resolution of a cell by the baseline's control, 0 where there is none yet.
func (s *stopper) resolution(cell, baseline string) float64 {
	control, base := s.medians[cellArm{cell, baseline + controlSuffix}], s.medians[cellArm{cell, baseline}]
	if len(control) == 0 || len(control) != len(base) {
		return 0
	}
	res, err := stats.NewResolution(control, base, 0, stats.Options{Confidence: s.spec.Confidence})
	if err != nil {
		return 0
	}
	return res.Effect
}
