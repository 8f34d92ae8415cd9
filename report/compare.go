package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mage/evidence"
)

// Comparison answers "did it get slower?", of two arms of one record or of two
// records.
type Comparison struct {
	// AcrossSessions marks a comparison of two records. Their times stand beside
	// each other and are never subtracted or divided; only each record's own
	// paired ratio to a common control is.
	AcrossSessions bool    `json:"across_sessions"`
	A              Side    `json:"a"`
	B              Side    `json:"b"`
	Margin         float64 `json:"margin"`
	Confidence     float64 `json:"confidence"`
	// Compared counts the rows with a verdict; their error is held together.
	Compared int           `json:"compared"`
	Rows     []ComparedRow `json:"rows"`
	// Regression: B is slower than A beyond the margin somewhere, or failed or
	// became impossible where A did not.
	Regression bool     `json:"regression"`
	Notes      []string `json:"notes,omitempty"`

	labels, cases map[string]string
}

// Side is one side of a comparison.
type Side struct {
	Record string `json:"record"` // "mage-001/20260910T101500Z-1a2b3c"
	Status string `json:"status"`
	Arm    string `json:"arm,omitempty"` // of two arms
}

// ComparedRow is one case, mode and cache state (of two records: and arm).
type ComparedRow struct {
	Case       string   `json:"case"`
	Mode       string   `json:"mode"`
	Cache      string   `json:"cache"`
	Instrument string   `json:"instrument"`
	Arm        string   `json:"arm"`
	AUS        *float64 `json:"a_median_us,omitempty"`
	BUS        *float64 `json:"b_median_us,omitempty"`
	// Control is the arm that both records hold, with the same binary; AEffect and
	// BEffect are the ratios to it within each record.
	Control string  `json:"control,omitempty"`
	AEffect *Effect `json:"a_effect,omitempty"`
	BEffect *Effect `json:"b_effect,omitempty"`
	// Ratio is B ÷ A: of the paired times, or of the two records' ratios.
	Ratio     *float64 `json:"ratio,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	TableLow  *float64 `json:"table_low,omitempty"`
	TableHigh *float64 `json:"table_high,omitempty"`
	Verdict   Verdict  `json:"verdict"` // on B
	Why       string   `json:"why,omitempty"`

	warnings []Warning
}

// CompareArms compares arm b with arm a of one record, paired by round, for
// every case, mode and cache state that both were measured in. An arm is given
// by its ID or by its implementation where only one arm has it; otherwise the
// error is an *UnknownArmError. The options' margin is the smallest slowdown that
// counts as a regression.
func CompareArms(run *evidence.Run, a, b string, o Options) (*Comparison, error) {
	armA, err := findArm(run.Record, a)
	if err != nil {
		return nil, err
	}
	armB, err := findArm(run.Record, b)
	if err != nil {
		return nil, err
	}
	if armA == armB {
		return nil, fmt.Errorf("%s is compared with itself; its A/A control is %s#control", armA, armA)
	}
	o.only, o.baseline = []string{armA, armB}, []string{armA}
	for _, x := range run.Record.Arms {
		// The controls give the resolution, unless they are compared themselves.
		if (x.ControlOf == armA || x.ControlOf == armB) && x.ID != armA && x.ID != armB {
			o.only = append(o.only, x.ID)
		}
	}
	r, err := Build(run, o)
	if err != nil {
		return nil, err
	}
	c := &Comparison{A: side(r), B: side(r), Margin: r.Header.Margin, Confidence: r.Header.Confidence,
		Compared: r.Header.Comparisons, labels: r.arms, cases: r.cases}
	c.A.Arm, c.B.Arm = armA, armB
	for _, arm := range []string{armA, armB} {
		if i := slices.IndexFunc(r.Counters, func(x CounterResult) bool { return x.Arm == arm }); i >= 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s was counted on %s, not timed: the report's table of counters has it",
				r.label(arm), r.Counters[i].Device))
		}
	}
	for _, cr := range r.Cases {
		c.armRows(cr, armA, armB)
		for _, n := range cr.Notes {
			c.Notes = append(c.Notes, r.caseLabel(cr.Case.ID)+": "+n)
			if strings.HasPrefix(n, r.label(armB)+" failed") {
				c.Regression = true
			}
		}
	}
	c.settle()
	return c, nil
}

// armRows adds the rows of one case: a mode and cache state that either arm was
// measured in.
func (c *Comparison) armRows(cr CaseResult, armA, armB string) {
	type place struct{ mode, cache string }
	type found struct {
		group *Group
		cell  *Cell
	}
	var order []place
	a, b := map[place]found{}, map[place]found{}
	for i := range cr.Groups {
		g := &cr.Groups[i]
		p := place{g.Mode, g.Cache}
		if !slices.Contains(order, p) {
			order = append(order, p)
		}
		for k := range g.Cells {
			switch g.Cells[k].Arm {
			case armA:
				a[p] = found{g, &g.Cells[k]}
			case armB:
				b[p] = found{g, &g.Cells[k]}
			}
		}
	}
	for _, p := range order {
		fa, fb := a[p], b[p]
		row := ComparedRow{Case: cr.Case.ID, Mode: p.mode, Cache: p.cache, Arm: armB}
		switch {
		case fb.cell == nil && fa.cell == nil:
			continue
		case fb.cell == nil:
			row.Instrument, row.AUS = fa.group.Instrument, fa.cell.MedianUS
			row.Verdict, row.Why = NotComparable, "B was not measured here"
		case fa.cell == nil:
			row.Instrument, row.BUS = fb.group.Instrument, fb.cell.MedianUS
			row.Verdict, row.Why = NotComparable, "A was not measured here"
		default:
			row.Instrument, row.AUS, row.BUS = fb.group.Instrument, fa.cell.MedianUS, fb.cell.MedianUS
			row.Verdict, row.Why = fb.cell.Verdict, fb.cell.Why
			row.warnings = doubts(fa.cell, fb.cell)
			if e := fb.cell.Effect; e != nil {
				row.Ratio, row.Low, row.High = &e.Ratio, e.Low, e.High
				row.TableLow, row.TableHigh = e.TableLow, e.TableHigh
				row.BEffect = e
			} else if row.Verdict == NotComparable {
				row.Why = strings.NewReplacer("the baseline", "A").Replace(row.Why)
				if fa.cell.Verdict == Failed || fa.cell.Verdict == Impossible {
					row.Why = "A is " + string(fa.cell.Verdict) + " here"
				}
			}
		}
		c.Rows = append(c.Rows, row)
	}
}

// doubts joins the warnings on b with those on a that b does not share; which
// other arms a resembles is not the question.
func doubts(a, b *Cell) []Warning {
	out := slices.Clone(b.Warnings)
	for _, w := range a.Warnings {
		shared := slices.ContainsFunc(b.Warnings, func(x Warning) bool { return x.Kind == w.Kind && x.Text == w.Text })
		if !shared && w.Kind != IdenticalBinary && w.Kind != DisturbedRounds && w.Kind != BelowFloor {
			w.Text = "A: " + w.Text
			out = append(out, w)
		}
	}
	return out
}

// settle decides whether there is a regression.
func (c *Comparison) settle() {
	for _, r := range c.Rows {
		switch r.Verdict {
		case Slower, Failed, Impossible:
			c.Regression = true
		}
	}
}

func side(r *Report) Side {
	return Side{Record: r.Header.Namespace + "/" + r.Header.RunID, Status: r.Header.Status}
}

// UnknownArmError says that a record has no such arm, or more than one.
type UnknownArmError struct {
	Arm   string
	Known []string // those that the name could mean, or all
	Many  bool     // the name fits more than one
}

func (e *UnknownArmError) Error() string {
	if e.Many {
		return fmt.Sprintf("arm %q could be %s", e.Arm, strings.Join(e.Known, " or "))
	}
	return fmt.Sprintf("the record has no arm %q (it has %s)", e.Arm, strings.Join(e.Known, ", "))
}

func findArm(rec *evidence.Record, name string) (string, error) {
	var known, fits []string
	for _, a := range rec.Arms {
		if a.ID == name {
			return name, nil
		}
		known = append(known, a.ID)
		if a.Implementation == name && a.ControlOf == "" {
			fits = append(fits, a.ID)
		}
	}
	switch len(fits) {
	case 0:
		return "", &UnknownArmError{Arm: name, Known: known}
	case 1:
		return fits[0], nil
	}
	return "", &UnknownArmError{Arm: name, Known: fits, Many: true}
}

// Render writes the comparison. The Go benchmark format cannot express one.
func (c *Comparison) Render(w io.Writer, f Format, o RenderOptions) error {
	switch f {
	case JSON:
		return renderJSON(w, c)
	case BenchmarkLines:
		return fmt.Errorf("a comparison cannot be written as %s; write each record as %s and let benchstat compare them", f, f)
	}
	o.Tables = nil
	return renderTables(w, f, c.Tables(), o)
}
