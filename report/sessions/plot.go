package sessions

import (
	"fmt"
	"math"
	"strings"

	"mage/history"
	"mage/internal/printable"
	"mage/report"
)

// plotColumns is the width of the plot inside its table.
const plotColumns = 41

// Plot draws a kernel's time over sessions, a table for each device and
// instrument: the median of its launches as a dot on a line from the lower to
// the upper quartile, all on one axis.
func Plot(kernel string, series []history.Series) []report.Table {
	low, high := span(series)
	left, right := report.Microseconds(low).Text, report.Microseconds(high).Text
	axis := left + strings.Repeat(" ", max(1, plotColumns-len([]rune(left))-len([]rune(right)))) + right
	var out []report.Table
	for i, s := range series {
		t := report.Table{ID: "kernel", Title: place(s),
			Columns: []report.Column{
				{Key: "session_id", Head: "session", Align: report.Right},
				{Key: "start_time", Head: "started (UTC)", Drop: 1},
				{Key: "plot", Head: axis},
				{Key: "median_us", Head: "median", Unit: "µs", Align: report.Right},
				{Key: "min_us", Head: "min", Unit: "µs", Align: report.Right, Drop: 3},
				{Key: "max_us", Head: "max", Unit: "µs", Align: report.Right, Drop: 2},
				{Key: "calls", Head: "calls", Align: report.Right, Drop: 4}}}
		if i == 0 {
			t.Title = printable.Line(kernel) + "\n" + t.Title
		}
		for _, p := range s.Points {
			t.Rows = append(t.Rows, report.Row{Cells: []report.Value{
				report.Number(fmt.Sprint(p.Session), p.Session), started(p.Start), {Text: box(p, low, high)},
				report.Microseconds(p.Median), report.Microseconds(p.Min), report.Microseconds(p.Max),
				report.Number(fmt.Sprint(p.Calls), p.Calls)}})
		}
		out = append(out, t)
	}
	if len(out) > 0 {
		last := &out[len(out)-1]
		last.Remarks = append(last.Remarks, "● median of the launches, ━ lower to upper quartile.", apart)
	}
	return out
}

// place names what a series has in common.
func place(s history.Series) string {
	device, instrument := s.Device, s.Instrument
	if device == "" {
		device = "unknown device"
	}
	if instrument == "" {
		instrument = "an unknown instrument"
	}
	return device + ", read with " + instrument
}

// span is the range of the axis, µs: all quartiles, and zero where that costs
// little, so that small differences are not blown up.
func span(series []history.Series) (low, high float64) {
	low = math.Inf(1)
	for _, s := range series {
		for _, p := range s.Points {
			low, high = min(low, p.Low), max(high, p.High)
		}
	}
	if !(low < high) || low < high/2 {
		low = 0
	}
	if high == 0 {
		high = 1
	}
	return low, high
}

func box(p history.Point, low, high float64) string {
	at := func(us float64) int {
		return int(math.Round(min(1, max(0, (us-low)/(high-low))) * (plotColumns - 1)))
	}
	line := []rune(strings.Repeat(" ", plotColumns))
	for i := at(p.Low); i <= at(p.High); i++ {
		line[i] = '━'
	}
	line[at(p.Median)] = '●'
	return string(line)
}
