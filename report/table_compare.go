package report

import (
	"fmt"
	"slices"
)

// Tables returns the comparison as tables: the terms, the rows.
func (c *Comparison) Tables() []Table { return []Table{c.termsTable(), c.rowsTable()} }

func (c *Comparison) termsTable() Table {
	title := "Two arms of one record, paired by round"
	if c.AcrossSessions {
		title = "Two records, across sessions"
	}
	t := Table{ID: RunTable, Title: title,
		Columns: []Column{{Key: "field", Head: "field"}, {Key: "value", Head: "value", Prose: true}}}
	add := func(field, value string, tone Tone) {
		t.Rows = append(t.Rows, Row{Cells: []Value{word(field), word(value).tone(tone)}})
	}
	name := func(s Side) string {
		if s.Arm != "" {
			return c.label(s.Arm)
		}
		return s.Record + ", " + s.Status
	}
	if !c.AcrossSessions {
		add("record", c.A.Record+", "+c.A.Status, Plain)
	}
	add("A", name(c.A), Plain)
	add("B", name(c.B), Plain)
	add("terms", fmt.Sprintf("%s %% intervals, margin ±%s, verdicts on B hold together over %d comparisons",
		trim(c.Confidence*100), percent(c.Margin), c.Compared), Plain)
	verdict, tone := "none found", Good
	switch {
	case c.Regression:
		verdict, tone = "found", Bad
	case c.Compared == 0:
		verdict, tone = "not known: nothing could be compared", Caution
	}
	add("regression", verdict, tone)
	return t
}

func (c *Comparison) label(arm string) string {
	if l, ok := c.labels[arm]; ok {
		return l
	}
	return arm
}

func (c *Comparison) caseLabel(id string) string {
	if l, ok := c.cases[id]; ok {
		return l
	}
	return id
}

func (c *Comparison) rowsTable() Table {
	interval := trim(c.Confidence*100) + " % interval"
	t := Table{ID: ComparisonTable, Title: "B against A", Remarks: slices.Clone(c.Notes), Columns: []Column{
		{Key: "case", Head: "case"}, {Key: "mode", Head: "mode"}, {Key: "cache", Head: "cache"},
		{Key: "arm", Head: "arm"},
		{Key: "instrument", Head: "instrument", Drop: 4},
		{Key: "a_median_us", Head: "A", Unit: "µs", Align: Right, Drop: 2},
		{Key: "b_median_us", Head: "B", Unit: "µs", Align: Right, Drop: 2},
		{Key: "control", Head: "control", Drop: 3},
		{Key: "a_ratio", Head: "A ÷ control", Align: Decimal, Drop: 1},
		{Key: "b_ratio", Head: "B ÷ control", Align: Decimal, Drop: 1},
		{Key: "ratio", Head: "B ÷ A", Align: Decimal},
		{Key: "ratio_interval", Head: interval, Align: Range},
		{Key: "verdict", Head: "verdict on B"}}}
	if c.AcrossSessions {
		t.Lead = []string{"across sessions: times are not compared, only the ratios to the control of each session"}
	}
	digits := 0 // of every ratio, those of the most precise
	for _, r := range c.Rows {
		if r.Ratio != nil {
			digits = max(digits, ratioDecimals(*r.Ratio, r.Low, r.High))
		}
		for _, e := range []*Effect{r.AEffect, r.BEffect} {
			if e != nil {
				digits = max(digits, ratioDecimals(e.Ratio, e.Low, e.High))
			}
		}
	}
	lastCase, lastMode := "", ""
	for _, r := range c.Rows {
		cs, mode, cache := word(c.caseLabel(r.Case)), word(r.Mode), word(r.Cache)
		rule := r.Case != lastCase && lastCase != ""
		if r.Case == lastCase {
			cs.Text = ""
			if r.Mode+r.Cache == lastMode {
				mode.Text, cache.Text = "", ""
			}
		}
		lastCase, lastMode = r.Case, r.Mode+r.Cache
		arm := word(c.label(r.Arm))
		arm.Data = r.Arm
		times := []Value{none(), none()}
		for i, us := range []*float64{r.AUS, r.BUS} {
			if us != nil {
				u := unitFor(*us)
				times[i] = number(fmt.Sprintf("%s %-2s", significant(*us*u.perUS, 4), u.name), *us)
			}
		}
		control, ea, eb := none(), none(), none()
		if c.AcrossSessions {
			ea, eb = ratioOnly(r.AEffect, digits), ratioOnly(r.BEffect, digits)
			if r.Control != "" {
				control = word(c.label(r.Control))
			}
		}
		ratio, ci := none(), none()
		if r.Ratio != nil {
			v, i := ratioText(*r.Ratio, r.Low, r.High, digits)
			ratio = number(v, *r.Ratio)
			if i != "" {
				ci = number(i, []float64{*r.Low, *r.High})
			}
		}
		t.Rows = append(t.Rows, Row{Rule: rule, Cells: []Value{cs, mode, cache, arm, word(r.Instrument),
			times[0], times[1], control, ea, eb, ratio, ci, c.verdict(&t, r)}})
	}
	t = t.fold("cache", "instrument", "control")
	if !c.AcrossSessions {
		t = t.without(func(col Column) bool { return col.Key != "arm" })
	}
	return t.compact()
}

func ratioOnly(e *Effect, digits int) Value {
	if e == nil {
		return none()
	}
	v, _ := ratioText(e.Ratio, nil, nil, digits)
	return number(v, e.Ratio)
}

func (c *Comparison) verdict(t *Table, r ComparedRow) Value {
	v := Value{Text: string(r.Verdict), Data: string(r.Verdict), Tone: verdictTone(r.Verdict)}
	if r.Why != "" {
		v.Marks = append(v.Marks, t.footnote(r.Why))
	}
	for _, w := range r.warnings {
		if w.Kind == DisturbedRounds || w.Kind == BelowFloor && r.Why != "" {
			continue
		}
		if m := t.footnote(w.Text); !slices.Contains(v.Marks, m) {
			v.Marks = append(v.Marks, m)
		}
	}
	slices.Sort(v.Marks)
	return v
}
