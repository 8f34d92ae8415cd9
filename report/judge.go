package report

import (
	"fmt"
	"math"
	"slices"

	"mage/evidence"
	"mage/stats"
)

// compare fills the report's cases: groups of what can be compared, with the
// verdicts of the whole table.
func (b *builder) compare(all []*series) error {
	var pending []*Cell
	var resolutions []measuredResolution
	for i := range b.rec.Cases {
		c := &b.rec.Cases[i]
		result := CaseResult{Case: *c}
		var group []*series
		flush := func() error {
			if len(group) == 0 {
				return nil
			}
			g, res, err := b.group(c, group)
			if err != nil {
				return err
			}
			result.Groups = append(result.Groups, g)
			resolutions = append(resolutions, res...)
			group = nil
			return nil
		}
		for _, s := range all {
			if s.Case != c.ID {
				continue
			}
			if len(group) > 0 && !sameGroup(group[0], s) {
				if err := flush(); err != nil {
					return err
				}
			}
			group = append(group, s)
		}
		if err := flush(); err != nil {
			return err
		}
		explainIncomparable(&result, b.rec)
		result.Notes = b.absentees(c, all)
		counts := slices.ContainsFunc(b.report.Counters, func(x CounterResult) bool { return x.Case == c.ID })
		if len(result.Groups) > 0 || len(result.Notes) > 0 || counts {
			b.report.Cases = append(b.report.Cases, result)
		}
	}
	// Pointers are taken only now that no slice grows any more.
	for i := range b.report.Cases {
		for j := range b.report.Cases[i].Groups {
			g := &b.report.Cases[i].Groups[j]
			for k := range g.Cells {
				if g.Cells[k].Effect != nil && g.Cells[k].Verdict == "" {
					pending = append(pending, &g.Cells[k])
				}
			}
		}
	}
	b.report.Header.Comparisons = len(pending)
	b.pool(resolutions)
	return decide(pending, 1-b.opts.Confidence, b.rec.Plan)
}

func sameGroup(a, b *series) bool {
	return a.Mode == b.Mode && a.Cache == b.Cache && a.Instrument == b.Instrument && a.device == b.device
}

// group compares the arms of one group with its baseline, and its controls with
// what they repeat.
func (b *builder) group(c *evidence.Case, all []*series) (Group, []measuredResolution, error) {
	first := all[0]
	g := Group{Mode: first.Mode, Cache: first.Cache, Instrument: first.Instrument, Device: first.device}
	for _, s := range all {
		cell, err := b.cell(c, s)
		if err != nil {
			return g, nil, err
		}
		g.Cells = append(g.Cells, cell)
	}
	resolutions, err := b.controls(&g, all)
	if err != nil {
		return g, nil, err
	}
	base := b.baseline(&g)
	if base < 0 {
		for i := range g.Cells {
			if g.Cells[i].Verdict == "" {
				g.Cells[i].Verdict = NotComparable
			}
		}
		return g, resolutions, nil
	}
	g.Baseline = all[base].Arm
	g.Cells[base].Verdict = Baseline
	resolution := 0.0
	if g.Resolution != nil {
		resolution = *g.Resolution
	}
	for i := range g.Cells {
		cell := &g.Cells[i]
		if cell.Verdict != "" {
			continue
		}
		arm, baseline := pair(all[i], all[base])
		if len(arm) == 0 {
			cell.Verdict, cell.Why = NotComparable, "no round in common with the baseline"
			continue
		}
		e, err := b.paired(all[base].Arm, arm, baseline, resolution)
		if err != nil {
			return g, nil, fmt.Errorf("%s %s %s %s: %w", c.ID, cell.Arm, g.Mode, g.Cache, err)
		}
		cell.Effect = e
	}
	return g, resolutions, nil
}

func (b *builder) paired(against string, arm, base []float64, resolution float64) (*Effect, error) {
	c, err := stats.Paired(arm, base, b.opts.stats(b.rec.Plan, resolution))
	if err != nil {
		return nil, err
	}
	e := &Effect{Against: against, Pairs: c.Rounds, Ratio: c.Ratio, PHolm: c.SignedRank.TwoSided, PVerdict: c.P(),
		Alone: Verdict(c.Verdict), Margin: c.Margin, comparison: c}
	e.Low, e.High = bounds(c.Interval)
	e.TableLow, e.TableHigh = e.Low, e.High
	return e, nil
}

// bounds returns an interval's ends, nil when it is unbounded.
func bounds(i stats.Interval) (lo, hi *float64) {
	if !finite(i.Lo) || !finite(i.Hi) {
		return nil, nil
	}
	return &i.Lo, &i.Hi
}

func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// baseline finds the first of the wanted baselines, given as arm or as
// implementation, that has a usable time here; −1 if there is none.
func (b *builder) baseline(g *Group) int {
	if apart(b.rec, g) {
		return -1
	}
	for _, want := range b.opts.baseline {
		for i, c := range g.Cells {
			if c.Verdict == "" && (c.Arm == want || c.Implementation == want) {
				return i
			}
		}
	}
	return -1
}

// explainIncomparable says why cells without a baseline have none.
func explainIncomparable(c *CaseResult, rec *evidence.Record) {
	for i := range c.Groups {
		g := &c.Groups[i]
		if g.Baseline != "" {
			continue
		}
		why := "none of the baselines was measured here"
		if apart(rec, g) {
			why = "profiled one after the other, not interleaved"
		}
		for _, o := range c.Groups {
			if o.Mode != g.Mode || o.Cache != g.Cache || o.Baseline == "" {
				continue
			}
			if o.Instrument != g.Instrument {
				why = fmt.Sprintf("read with the %s, the baseline with the %s", g.Instrument, o.Instrument)
			} else {
				why = fmt.Sprintf("on device %s, the baseline on %s", g.Device, o.Device)
			}
			break
		}
		for k := range g.Cells {
			if g.Cells[k].Verdict == NotComparable && g.Cells[k].Why == "" {
				g.Cells[k].Why = why
			}
		}
	}
}

// decide gives every compared cell the verdict of the whole table. Where a
// stopping rule looked after each round, the error is shared by the looks as well.
func decide(cells []*Cell, alpha float64, plan evidence.Plan) error {
	if len(cells) == 0 {
		return nil
	}
	comparisons := make([]stats.Comparison, len(cells))
	for i, c := range cells {
		comparisons[i] = c.Effect.comparison
	}
	looks, err := looksOf(plan, alpha, len(cells))
	if err != nil {
		return err
	}
	rows, err := stats.DecideTable(comparisons, alpha/looks)
	if err != nil {
		return fmt.Errorf("judging the table: %w", err)
	}
	for i, row := range rows {
		c, e := cells[i], cells[i].Effect
		e.PHolm, e.PVerdict = row.PDiffers, math.Min(1, row.P*looks)
		e.TableLow, e.TableHigh = bounds(row.Interval)
		c.Verdict = Verdict(row.Verdict)
		below := false
		for _, w := range append(slices.Clone(e.comparison.Warnings), row.Warnings...) {
			if w.Code == stats.BelowResolution {
				below = true
				continue
			}
			c.Warnings = append(c.Warnings, fromStats(w))
		}
		switch {
		case c.Verdict == Undecided && below:
			c.Verdict = Indistinguishable
			c.Why = "the difference is below what the A/A control resolves here"
		case c.Verdict != e.Alone && c.Verdict == Undecided:
			c.Why = fmt.Sprintf("%s by itself, but not with the error of all %d comparisons held together", e.Alone, len(cells))
		}
	}
	return nil
}

// looksOf is how much less one of so many rows may err at one look of the plan's
// stopping rule than at a single one; 1 without a rule.
func looksOf(plan evidence.Plan, alpha float64, rows int) (float64, error) {
	if !plan.Stop {
		return 1, nil
	}
	rule, err := stats.NewSequential(stats.SequentialOptions{
		MinRounds: max(plan.Rounds, stats.VerdictRounds), MaxRounds: max(plan.MaxRounds, stats.VerdictRounds),
		Alpha: alpha, Rows: rows})
	if err != nil {
		return 0, fmt.Errorf("the stopping rule of the plan: %w", err)
	}
	return (alpha / float64(rows)) / (1 - rule.Confidence()), nil
}

// absentees says which arms have no sample of a case because they failed.
func (b *builder) absentees(c *evidence.Case, all []*series) (notes []string) {
	for _, a := range b.rec.Arms {
		if b.opts.only != nil && !slices.Contains(b.opts.only, a.ID) ||
			slices.ContainsFunc(all, func(s *series) bool { return s.Case == c.ID && s.Arm == a.ID }) {
			continue
		}
		if why := b.failure(c.ID, a.ID); why != "" {
			notes = append(notes, b.report.label(a.ID)+" failed: "+why)
		}
	}
	return notes
}
