package profile

import (
	"fmt"
	"strings"

	"mage/capture"
	"mage/report"
)

// Live is the table of what a running program has launched so far, at most rows of
// it, for a terminal of width columns. Some profilers tell the times only at the end.
func Live(seen capture.Seen, rows, width int) report.Table {
	t := report.Table{ID: "live", Title: fmt.Sprintf("%s of %s so far", counted(seen.Launches, "launch"), counted(seen.Kernels, "kernel")), Columns: []report.Column{
		{Key: "kernel", Head: "kernel"}, {Key: "calls", Head: "calls", Align: report.Right},
		{Key: "total", Head: "total", Align: report.Right, Drop: 1}, {Key: "mean", Head: "mean", Align: report.Right, Drop: 3},
		{Key: "share", Head: "share", Align: report.Right, Drop: 2}}}
	const others = 46 // columns that the others and the lines between them take
	for _, k := range seen.Busiest[:min(len(seen.Busiest), rows)] {
		total, mean, share := report.Absent(), report.Absent(), report.Absent()
		if k.Timed > 0 {
			total, mean = report.Number(timeText(k.TotalUS), k.TotalUS), report.Number(timeText(k.TotalUS/float64(k.Timed)), nil)
		}
		if seen.TotalUS > 0 {
			share = report.Number(percent(k.TotalUS/seen.TotalUS), nil)
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Value{
			word(liveName(k.Name, max(20, width-others))), {Text: fmt.Sprint(k.Launches)}, total, mean, share}})
	}
	return t
}

// liveName is short enough for one line: a table that is rewritten must not wrap.
func liveName(name string, longest int) string {
	if s := capture.ShortName(name); s != "" {
		name = s
	}
	if r := []rune(name); len(r) > longest {
		name = string(r[:longest-1]) + "…"
	}
	return name
}

func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
