// Package ceilings draws a file of measured ceilings. It must not know how they were
// measured, nor what lies under them.
package ceilings

import (
	"fmt"
	"slices"
	"strings"

	"mage/ceiling"
	"mage/gpu"
	"mage/report"
)

// Table has a row for each ceiling of the file, also for those that were not measured.
func Table(f *ceiling.File) report.Table {
	t := report.Table{ID: "ceilings",
		Title: fmt.Sprintf("Ceilings of %s, driver %s, measured %s", f.Device.Name, f.Device.DriverVersion, f.Measured.UTC().Format("2006-01-02 15:04 UTC")),
		Columns: []report.Column{
			{Key: "ceiling", Head: "ceiling"}, {Key: "median", Head: "median", Align: report.Right},
			{Key: "middle", Head: "middle 90 %", Align: report.Right, Drop: 2}, {Key: "best", Head: "best", Align: report.Right, Drop: 3},
			{Key: "of_nominal", Head: "of nominal", Unit: "1", Align: report.Right, Drop: 1},
			{Key: "with", Head: "with", Prose: true, Drop: 4}, {Key: "conditions", Head: "clock, temperature", Drop: 5}}}
	for _, c := range f.Ceilings {
		t.Rows = append(t.Rows, report.Row{Cells: row(&t, f, c)})
	}
	return t
}

func row(t *report.Table, f *ceiling.File, c ceiling.Ceiling) []report.Value {
	name := report.Value{Text: c.Name, Data: c.Name}
	for _, caveat := range f.Caveats(c) {
		name.Marks = append(name.Marks, note(t, caveat))
	}
	p := c.Confirmed
	if p == nil {
		none := report.Value{Text: "–", Tone: report.Faint}
		return []report.Value{name, {Text: "unavailable", Tone: report.Faint}, none, none, none, {Text: c.Reason, Data: c.Reason}, none}
	}
	with := p.Kernel + ": " + p.Shape
	if c.Unit == ceiling.Microseconds {
		with = c.Counts
	}
	if p.CacheShare > 0 {
		with += fmt.Sprintf("; at most %.1f %% of it from the L2", 100*p.CacheShare)
	}
	between := c.Unit.Text(p.Low) + "–" + c.Unit.Text(p.High)
	states := conditions(c.Before, c.After)
	return []report.Value{name, {Text: c.Unit.Text(p.Median), Data: p.Median}, {Text: between, Data: between},
		{Text: c.Unit.Text(p.Best), Data: p.Best}, ofNominal(f, c), {Text: with, Data: with}, {Text: states, Data: states}}
}

// note returns the number of a footnote, the same for the same text.
func note(t *report.Table, text string) int {
	if i := slices.Index(t.Notes, text); i >= 0 {
		return i + 1
	}
	t.Notes = append(t.Notes, text)
	return len(t.Notes)
}

// ofNominal holds a ceiling against the peak that the device's attributes promise.
func ofNominal(f *ceiling.File, c ceiling.Ceiling) report.Value {
	peak := f.Nominal(c.Name)
	if peak <= 0 {
		return report.Value{Text: "–", Tone: report.Faint}
	}
	part := c.Confirmed.Median / peak
	return report.Value{Text: fmt.Sprintf("%.1f %%", 100*part), Data: part}
}

func conditions(before, after gpu.State) string {
	var parts []string
	add := func(a, b *int, unit string) {
		switch {
		case a == nil || b == nil:
		case *a == *b:
			parts = append(parts, fmt.Sprintf("%d %s", *a, unit))
		default:
			parts = append(parts, fmt.Sprintf("%d → %d %s", *a, *b, unit))
		}
	}
	add(before.SMClockMHz, after.SMClockMHz, "MHz")
	add(before.TemperatureC, after.TemperatureC, "°C")
	return strings.Join(parts, ", ")
}
