package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mage/evidence"
	"mage/stats"
)

// CompareRuns sets two records beside each other. Their times come from
// different sessions and are never compared. What is compared, for every arm
// that both hold, is the ratio to a control within each record: a baseline that
// both measured in the same case, mode, cache state, with the same instrument,
// on a device of the same name, whose binary is byte for byte the same. The
// quotient of the two ratios, B ÷ A, says whether the arm moved against that
// control. Without such a control a row is not comparable.
// A record that was imported is refused (*ImportedError).
func CompareRuns(a, b *evidence.Run, o Options) (*Comparison, error) {
	for _, run := range []*evidence.Run{a, b} {
		if run.Record.Imported != nil {
			return nil, &ImportedError{run.Record.Namespace + "/" + run.Record.RunID, *run.Record.Imported}
		}
	}
	ra, err := Build(a, o)
	if err != nil {
		return nil, fmt.Errorf("record A: %w", err)
	}
	rb, err := Build(b, o)
	if err != nil {
		return nil, fmt.Errorf("record B: %w", err)
	}
	c := &Comparison{AcrossSessions: true, A: side(ra), B: side(rb),
		Margin: max(ra.Header.Margin, rb.Header.Margin), Confidence: max(ra.Header.Confidence, rb.Header.Confidence),
		labels: map[string]string{}, cases: map[string]string{}}
	for _, r := range []*Report{rb, ra} {
		for id, l := range r.arms {
			c.labels[id] = l
		}
		for id, l := range r.cases {
			c.cases[id] = l
		}
	}
	m := matcher{a: a.Record, b: b.Record, ra: ra, rb: rb}
	c.Rows = m.rows()
	c.Notes = m.onlyInOne()
	if err := c.decideAcross(a.Record.Plan, b.Record.Plan); err != nil {
		return nil, err
	}
	c.settle()
	return c, nil
}

// matcher finds what two records have in common.
type matcher struct {
	a, b   *evidence.Record
	ra, rb *Report
}

// place is where a cell stands in a report.
type place struct{ Case, Mode, Cache, Instrument, Arm string }

type located struct {
	c    *CaseResult
	g    *Group
	cell *Cell
}

func locate(r *Report) (map[place]located, []place) {
	out, order := map[place]located{}, []place{}
	for i := range r.Cases {
		c := &r.Cases[i]
		for j := range c.Groups {
			g := &c.Groups[j]
			for k := range g.Cells {
				p := place{c.Case.ID, g.Mode, g.Cache, g.Instrument, g.Cells[k].Arm}
				out[p] = located{c, g, &g.Cells[k]}
				order = append(order, p)
			}
		}
	}
	return out, order
}

// rows lists every arm that both records hold at the same place, controls aside.
func (m matcher) rows() []ComparedRow {
	inA, order := locate(m.ra)
	inB, _ := locate(m.rb)
	var out []ComparedRow
	for _, p := range order {
		x, y := inA[p], inB[p]
		if y.cell == nil || x.cell.Verdict == Control || y.cell.Verdict == Control {
			continue
		}
		row := ComparedRow{Case: p.Case, Mode: p.Mode, Cache: p.Cache, Instrument: p.Instrument, Arm: p.Arm,
			AUS: x.cell.MedianUS, BUS: y.cell.MedianUS, AEffect: x.cell.Effect, BEffect: y.cell.Effect,
			warnings: doubts(x.cell, y.cell)}
		m.judge(&row, x, y)
		out = append(out, row)
	}
	return out
}

// judge finds what stands against comparing a row; a row that is left without a
// verdict is compared.
func (m matcher) judge(row *ComparedRow, x, y located) {
	broken := func(v Verdict) bool { return v == Failed || v == Impossible || v == NoRounds }
	not := func(format string, args ...any) {
		row.Verdict, row.Why = NotComparable, fmt.Sprintf(format, args...)
	}
	switch {
	case broken(y.cell.Verdict) && !broken(x.cell.Verdict):
		row.Verdict, row.Why = y.cell.Verdict, y.cell.Why
	case broken(x.cell.Verdict):
		not("in A it is %s", x.cell.Verdict)
	case !sameInputs(x.c.Case, y.c.Case):
		not("the inputs of the two records differ")
	case m.deviceName(m.a, x.g.Device) != m.deviceName(m.b, y.g.Device):
		not("A ran on %s, B on %s", m.deviceName(m.a, x.g.Device), m.deviceName(m.b, y.g.Device))
	case x.cell.Verdict == Baseline && y.cell.Verdict == Baseline && x.cell.Arm == y.cell.Arm:
		row.Verdict = Baseline
		if why := m.differs(x.c.Case.ID, x.cell.Arm); why != "" {
			row.Why = why
		}
	case x.cell.Effect == nil || y.cell.Effect == nil:
		not("no common control: it has no ratio to a baseline in both records")
	case x.g.Baseline != y.g.Baseline:
		not("no common control: the baseline is %s in A and %s in B", m.ra.label(x.g.Baseline), m.rb.label(y.g.Baseline))
	default:
		row.Control = x.g.Baseline
		if why := m.differs(x.c.Case.ID, row.Control); why != "" {
			not("no common control: %s", why)
		}
	}
}

// differs says why an arm is not the same binary in both records; empty: it is.
func (m matcher) differs(caseID, arm string) string {
	hash := func(rec *evidence.Record) string {
		for _, e := range rec.Entries {
			if e.Case == caseID && e.Arm == arm && e.Identity.BinarySHA256 != "" {
				return e.Identity.BinarySHA256
			}
		}
		return ""
	}
	ha, hb := hash(m.a), hash(m.b)
	switch {
	case ha == "" || hb == "":
		return "the binary of " + m.ra.label(arm) + " is not known in both records"
	case ha != hb:
		return fmt.Sprintf("the binary of %s is %s in A and %s in B", m.ra.label(arm), short(ha), short(hb))
	}
	return ""
}

func sameInputs(a, b evidence.Case) bool {
	for name, h := range a.InputSHA256 {
		if other, ok := b.InputSHA256[name]; ok && other != h {
			return false
		}
	}
	return a.Seed == b.Seed && a.FLOPs == b.FLOPs
}

func (m matcher) deviceName(rec *evidence.Record, id string) string {
	for _, d := range rec.Devices {
		if d.ID == id {
			return d.Name
		}
	}
	return id
}

// onlyInOne lists the arms that one record lacks.
func (m matcher) onlyInOne() (notes []string) {
	list := func(has, lacks *evidence.Record, labels *Report, which string) {
		var names []string
		for _, a := range has.Arms {
			if a.ControlOf == "" && !slices.ContainsFunc(lacks.Arms, func(x evidence.Arm) bool { return x.ID == a.ID }) {
				names = append(names, labels.label(a.ID))
			}
		}
		if len(names) > 0 {
			notes = append(notes, "only in "+which+": "+strings.Join(names, ", "))
		}
	}
	list(m.a, m.b, m.ra, "A")
	list(m.b, m.a, m.rb, "B")
	return notes
}

// decideAcross gives the comparable rows their quotient, interval and verdict.
// As in a report, the verdicts are read off intervals that hold together: with k
// rows at confidence 1−α/k each, and less where a stopping rule chose the rounds.
func (c *Comparison) decideAcross(planA, planB evidence.Plan) error {
	for _, r := range c.Rows {
		if r.Verdict == "" {
			c.Compared++
		}
	}
	if c.Compared == 0 {
		return nil
	}
	alpha, looks := 1-c.Confidence, 1.0
	for _, plan := range []evidence.Plan{planA, planB} {
		l, err := looksOf(plan, alpha, c.Compared)
		if err != nil {
			return err
		}
		looks = max(looks, l)
	}
	each := alpha / float64(c.Compared) / looks
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Verdict != "" {
			continue
		}
		x, y := r.AEffect.comparison, r.BEffect.comparison
		ratio := y.Ratio / x.Ratio
		r.Ratio = &ratio
		r.Low, r.High = bounds(quotient(y, x, c.Confidence))
		table := quotient(y, x, 1-each)
		r.TableLow, r.TableHigh = bounds(table)
		switch {
		case x.Rounds < stats.VerdictRounds || y.Rounds < stats.VerdictRounds:
			r.Verdict, r.Why = Undecided, fmt.Sprintf("a verdict needs %d rounds in both records", stats.VerdictRounds)
		default:
			r.Verdict = Verdict(table.Judge(max(c.Margin, x.Margin, y.Margin)))
		}
	}
	return nil
}

// quotient is the interval of b's ratio over a's, two independent estimates with
// an interval each, by the method of variance estimates recovery on the
// logarithms (Zou and Donner, Statistics in Medicine 27, 2008): it keeps the
// asymmetry of both.
func quotient(b, a stats.Comparison, confidence float64) stats.Interval {
	ib, ia := b.At(confidence), a.At(confidence)
	if !finite(ib.Hi) || !finite(ia.Hi) || ib.Lo <= 0 || ia.Lo <= 0 {
		return stats.Interval{Lo: 0, Hi: math.Inf(1), Confidence: confidence}
	}
	lb, la := math.Log(b.Ratio), math.Log(a.Ratio)
	d := lb - la
	lo := d - math.Hypot(lb-math.Log(ib.Lo), math.Log(ia.Hi)-la)
	hi := d + math.Hypot(math.Log(ib.Hi)-lb, la-math.Log(ia.Lo))
	return stats.Interval{Lo: math.Exp(lo), Hi: math.Exp(hi), Confidence: confidence}
}
