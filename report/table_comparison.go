package report

import (
	"fmt"
	"slices"
	"strings"
)

// comparisonTable is one case: every mode and cache state with its arms.
func (r *Report) comparisonTable(c CaseResult) Table {
	t := Table{
		ID: ComparisonTable, Title: caseTitle(c), Remarks: c.Notes,
		Columns: []Column{
			{Key: "mode", Head: "mode"},
			{Key: "cache", Head: "cache"},
			{Key: "arm", Head: "arm"},
			{Key: "path", Head: "path", Drop: 7},
			{Key: "device", Head: "device", Drop: 8},
			{Key: "instrument", Head: "instrument", Drop: 4},
			{Key: "median_us", Head: "median", Unit: "µs", Align: Right},
			{Key: "median_interval", Head: r.intervalHead(), Align: Range, Drop: 1},
			{Key: "rounds", Head: "rounds", Align: Right, Drop: 9},
			{Key: "ratio", Head: "ratio", Align: Decimal},
			{Key: "ratio_interval", Head: r.intervalHead(), Align: Range},
			{Key: "p_verdict", Head: "p (table)", Align: Right, Drop: 3},
			{Key: "verdict", Head: "verdict"},
			{Key: "gflop_per_s", Head: "GFLOP/s", Unit: "GFLOP/s", Align: Right, Drop: 6},
			{Key: "gbyte_per_s", Head: "GB/s", Unit: "GB/s", Align: Right, Drop: 5},
			{Key: "of_floor", Head: "of floor", Unit: "1", Align: Right, Drop: 2},
		},
	}
	mode, cache := "", ""
	for gi, g := range c.Groups {
		style := groupStyle(c, g)
		for i, cell := range g.Cells {
			m, ca := word(g.Mode), word(g.Cache)
			fresh := gi == 0 || g.Mode != mode || g.Cache != cache
			if !fresh || i > 0 {
				m.Text, ca.Text = "", ""
			}
			row := r.comparisonRow(&t, g, cell, style)
			row.Cells = append([]Value{m, ca}, row.Cells...)
			row.Rule = fresh && i == 0 && len(t.Rows) > 0
			if !fresh && i == 0 && cell.Verdict == Baseline {
				last := &row.Cells[columnIndex(t, "verdict")]
				last.Marks = append(last.Marks, t.footnote(fmt.Sprintf(
					"a baseline of its own: %s on %s is not compared with what stands above", g.Instrument, g.Device)))
			}
			t.Rows = append(t.Rows, row)
		}
		mode, cache = g.Mode, g.Cache
	}
	for i := range t.Rows {
		for j := range t.Rows[i].Cells {
			slices.Sort(t.Rows[i].Cells[j].Marks)
		}
	}
	return t.fold("cache", "instrument", "device").compact()
}

func columnIndex(t Table, key string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == key })
}

// numberStyle is how the numbers of one mode and cache state are written, so that
// they can be compared at a glance: times in one unit where that is readable,
// and the same digits after the point, those of the most precise.
type numberStyle struct {
	unit          timeUnit
	common        bool
	timeDecimals  map[string]int // by unit
	ratioDecimals int
}

func (s numberStyle) unitOf(us float64) timeUnit {
	if s.common {
		return s.unit
	}
	return unitFor(us)
}

func groupStyle(c CaseResult, g Group) numberStyle {
	var cells []Cell
	var us []float64
	for _, o := range c.Groups {
		if o.Mode != g.Mode || o.Cache != g.Cache {
			continue
		}
		for _, cell := range o.Cells {
			if cell.MedianUS != nil {
				cells = append(cells, cell)
				us = append(us, *cell.MedianUS)
			}
		}
	}
	s := numberStyle{timeDecimals: map[string]int{}}
	s.unit, s.common = commonUnit(us)
	for _, cell := range cells {
		u := s.unitOf(*cell.MedianUS)
		d := timeDecimals(*cell.MedianUS, cell.LowUS, cell.HighUS, u)
		s.timeDecimals[u.name] = max(s.timeDecimals[u.name], d)
		if e := cell.Effect; e != nil {
			s.ratioDecimals = max(s.ratioDecimals, ratioDecimals(e.Ratio, e.Low, e.High))
		}
	}
	return s
}

func (r *Report) intervalHead() string { return trim(r.Header.Confidence*100) + " % interval" }

// comparisonRow is a row without its mode and cache.
func (r *Report) comparisonRow(t *Table, g Group, c Cell, style numberStyle) Row {
	arm := word(r.label(c.Arm))
	arm.Data = c.Arm
	median, interval := none(), none()
	if c.MedianUS != nil {
		u := style.unitOf(*c.MedianUS)
		m, i := timeText(*c.MedianUS, c.LowUS, c.HighUS, u, style.timeDecimals[u.name])
		median = number(m, *c.MedianUS)
		if i != "" {
			interval = number(i, []float64{*c.LowUS, *c.HighUS})
		}
	}
	rounds := number(fmt.Sprint(c.Rounds), c.Rounds)
	if c.Disturbed > 0 {
		rounds.Text += fmt.Sprintf(" (+%d)", c.Disturbed)
	}
	ratio, ratioCI, p := none(), none(), none()
	if e := c.Effect; e != nil {
		v, i := ratioText(e.Ratio, e.Low, e.High, style.ratioDecimals)
		ratio = number(v, e.Ratio)
		if i != "" {
			ratioCI = number(i, []float64{*e.Low, *e.High})
		}
		if c.Verdict != Control {
			p = number(pText(e.PVerdict), e.PVerdict)
		}
	} else if c.Verdict == Baseline {
		ratio = number("1", 1.0)
	}
	return Row{Cells: []Value{arm, word(c.LaunchPath), word(g.Device), word(g.Instrument),
		median, interval, rounds, ratio, ratioCI, p, r.verdict(t, c),
		rate(c.GFLOPS), rate(c.GBps), fraction(c.OfFloor)}}
}

func (r *Report) verdict(t *Table, c Cell) Value {
	v := Value{Text: string(c.Verdict), Data: string(c.Verdict), Tone: verdictTone(c.Verdict)}
	if c.Why != "" {
		v.Marks = append(v.Marks, t.footnote(c.Why))
	}
	for _, w := range c.Warnings {
		if w.Kind == DisturbedRounds || w.Kind == BelowFloor {
			continue // the column of rounds and the verdict say it
		}
		m := t.footnote(w.Text)
		if !slices.Contains(v.Marks, m) {
			v.Marks = append(v.Marks, m)
		}
	}
	return v
}

func verdictTone(v Verdict) Tone {
	switch v {
	case Faster:
		return Good
	case Slower, Impossible, Failed:
		return Bad
	case Undecided, NoRounds:
		return Caution
	case Baseline, Control, NotComparable, Indistinguishable:
		return Faint
	}
	return Plain
}

func rate(x *float64) Value {
	if x == nil {
		return none()
	}
	return number(rateText(*x), *x)
}

func fraction(x *float64) Value {
	if x == nil {
		return none()
	}
	return number(percent(*x), *x)
}

// caseTitle is "gelu fp32 R=4096 D=768, normal inputs; 28.3 MFLOP, 25.2 MB".
func caseTitle(c CaseResult) string {
	s := c.Case.Contract + " " + c.Case.Precision + " " +
		strings.ReplaceAll(c.Case.Dims.Format(c.Case.DimOrder), ",", " ")
	if c.Case.Distribution != "" {
		s += ", " + c.Case.Distribution
	}
	var work []string
	if c.Case.FLOPs > 0 {
		work = append(work, countText(c.Case.FLOPs, "FLOP"))
	}
	if c.Case.CompulsoryBytes > 0 {
		work = append(work, bytesText(c.Case.CompulsoryBytes))
	}
	if len(work) > 0 {
		s += " (" + strings.Join(work, ", ") + ")"
	}
	return s
}

// fold removes the named columns when they hold one value only, where they hold
// any, and says that value once above the table.
func (t Table) fold(keys ...string) Table {
	constant := map[string]string{}
	for i, c := range t.Columns {
		for _, k := range keys {
			if c.Key != k || len(t.Rows) == 0 {
				continue
			}
			first, same := any(nil), true
			for _, row := range t.Rows {
				if d := row.Cells[i].Data; first == nil {
					first = d
				} else {
					same = same && (d == first || d == nil)
				}
			}
			if s, ok := first.(string); same && ok {
				constant[k] = s
			}
		}
	}
	var lead []string
	for _, k := range keys {
		if v, ok := constant[k]; ok {
			lead = append(lead, k+" "+v)
		}
	}
	if len(lead) > 0 {
		t.Lead = append(t.Lead, strings.Join(lead, ", "))
	}
	return t.without(func(c Column) bool { _, folded := constant[c.Key]; return !folded })
}
