package sessions

import (
	"fmt"
	"strings"
	"time"

	"mage/capture"
	"mage/history"
	"mage/internal/printable"
	"mage/report"
)

// apart is said wherever numbers of several sessions are in sight.
const apart = "Times of different sessions or instruments are listed side by side; they are never averaged together or subtracted."

// List is the table of sessions.
func List(all []history.Summary) report.Table {
	t := report.Table{ID: "sessions", Title: fmt.Sprintf("%d sessions", len(all)), Columns: []report.Column{
		{Key: "id", Head: "id", Align: report.Right},
		{Key: "start_time", Head: "started (UTC)", Drop: 2},
		{Key: "duration_s", Head: "took", Unit: "s", Align: report.Right, Drop: 6},
		{Key: "device_name", Head: "device", Drop: 3},
		{Key: "backend", Head: "backend"},
		{Key: "instrument", Head: "instrument", Drop: 5},
		{Key: "command", Head: "command", Prose: true},
		{Key: "kernels", Head: "kernels", Align: report.Right, Drop: 4},
		{Key: "launches", Head: "launches", Align: report.Right, Drop: 1},
		{Key: "total_us", Head: "kernel time", Unit: "µs", Align: report.Right},
		{Key: "outcome", Head: "outcome", Drop: 7}}}
	if len(all) == 1 {
		t.Title = "1 session"
	}
	for _, s := range all {
		took := report.Absent()
		if !s.Start.IsZero() && !s.End.IsZero() {
			took = report.Microseconds(float64(s.End.Sub(s.Start).Nanoseconds()) / 1e3)
			took.Data = s.End.Sub(s.Start).Seconds()
		}
		total := report.Absent()
		if s.Launches > 0 {
			total = report.Microseconds(s.TotalUS)
		}
		outcome := report.Word(s.Outcome)
		if s.Outcome == "complete" {
			outcome.Tone = report.Good
		} else if s.Outcome != "" {
			outcome.Tone = report.Caution
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Value{
			report.Number(fmt.Sprint(s.ID), s.ID), started(s.Start), took, report.Word(s.Device), report.Word(s.Backend),
			report.Word(s.ReadWith()), report.Word(printable.Line(s.Command)), report.Number(fmt.Sprint(s.Kernels), s.Kernels),
			report.Number(fmt.Sprint(s.Launches), s.Launches), total, outcome}})
	}
	if len(all) > 1 {
		t.Remarks = append(t.Remarks, apart)
	}
	return t
}

// Show is one session: its description and its kernels, at most top of them if that
// is not 0.
func Show(s history.Session, kernels []history.Kernel, top int) []report.Table {
	head := report.Table{ID: "session", Title: fmt.Sprintf("session %d", s.ID),
		Columns: []report.Column{{Key: "field", Head: "field"}, {Key: "value", Head: "value", Prose: true}}}
	add := func(field, value string) {
		if value != "" {
			head.Rows = append(head.Rows, report.Row{Cells: []report.Value{report.Word(field), report.Word(value)}})
		}
	}
	add("command", printable.Line(s.Command))
	if !s.Start.IsZero() {
		add("started", started(s.Start).Text+" UTC")
	}
	if !s.End.IsZero() {
		add("ended", started(s.End).Text+" UTC")
	}
	add("device", s.Device)
	add("backend", s.Backend)
	add("instrument", s.ReadWith())
	add("outcome", s.Outcome)
	add("directory", s.Directory)
	add("written by", s.ToolVersion)
	return []report.Table{head, kernelTable(s, kernels, top)}
}

func kernelTable(s history.Session, kernels []history.Kernel, top int) report.Table {
	t := report.Table{ID: "kernels", Title: "kernels", Columns: []report.Column{
		{Key: "kernel_name", Head: "kernel", Prose: true},
		{Key: "calls", Head: "calls", Align: report.Right},
		{Key: "total_us", Head: "total", Unit: "µs", Align: report.Right},
		{Key: "share", Head: "share", Unit: "1", Align: report.Right},
		{Key: "mean_us", Head: "mean", Unit: "µs", Align: report.Right},
		{Key: "min_us", Head: "min", Unit: "µs", Align: report.Right, Drop: 1},
		{Key: "max_us", Head: "max", Unit: "µs", Align: report.Right, Drop: 2},
		{Key: "grid_size", Head: "grid", Align: report.Right, Drop: 6},
		{Key: "block_size", Head: "block", Align: report.Right, Drop: 5},
		{Key: "registers_per_thread", Head: "registers", Align: report.Right, Drop: 7},
		{Key: "shared_mem_bytes", Head: "shared", Align: report.Right, Drop: 8},
		{Key: "occupancy", Head: "occupancy", Align: report.Right, Drop: 3},
		{Key: "memory_throughput_gbps", Head: "GB/s", Align: report.Right, Drop: 4},
		{Key: "compute_throughput_pct", Head: "compute", Align: report.Right, Drop: 9},
		{Key: "l1_hit_rate", Head: "L1 hits", Align: report.Right, Drop: 10},
		{Key: "l2_hit_rate", Head: "L2 hits", Align: report.Right, Drop: 11},
		{Key: "dram_read_bytes", Head: "read", Align: report.Right, Drop: 12},
		{Key: "dram_write_bytes", Head: "written", Align: report.Right, Drop: 13}}}
	if with := s.ReadWith(); with != "" {
		t.Lead = []string{"read with " + with}
	}
	if len(kernels) == 0 {
		t.Remarks = append(t.Remarks, "no kernel was recorded")
	}
	if more := len(kernels) - top; top > 0 && more > 0 {
		us := 0.0
		for _, k := range kernels[top:] {
			us += k.Total
		}
		what := "kernels"
		if more == 1 {
			what = "kernel"
		}
		t.Remarks = append(t.Remarks, fmt.Sprintf("%d %s more, %s; --top 0 shows all", more, what, strings.TrimSpace(report.Microseconds(us).Text)))
		kernels = kernels[:top]
	}
	var names []string
	for _, k := range kernels {
		names = append(names, k.Name)
	}
	short := capture.ShortNames(names)
	for _, k := range kernels {
		row := []report.Value{{Text: printable.Line(short[k.Name]), Data: k.Name}, report.Number(fmt.Sprint(k.Calls), k.Calls),
			report.Microseconds(k.Total), report.Fraction(&k.Share), report.Microseconds(k.Mean), report.Microseconds(k.Min),
			report.Microseconds(k.Max), size(k.Grid), size(k.Block), count(k.Registers), bytes(k.SharedBytes)}
		for _, c := range t.Columns[len(row):] {
			row = append(row, counter(k, c.Key))
		}
		t.Rows = append(t.Rows, report.Row{Cells: row})
	}
	partial := false
	for _, k := range kernels {
		for _, c := range k.Counters {
			partial = partial || c.Calls < k.Calls
		}
	}
	if partial {
		t.Remarks = append(t.Remarks, "Counters are means over the launches that reported them, which were not all.")
	}
	return t
}

func counter(k history.Kernel, name string) report.Value {
	for _, c := range k.Counters {
		if c.Name != name {
			continue
		}
		switch name {
		case "occupancy":
			return report.Fraction(&c.Mean)
		case "memory_throughput_gbps":
			return report.Number(fmt.Sprintf("%.4g", c.Mean), c.Mean)
		case "dram_read_bytes", "dram_write_bytes":
			return report.Number(report.Bytes(int64(c.Mean)), c.Mean)
		}
		return report.Number(fmt.Sprintf("%.3g %%", c.Mean), c.Mean)
	}
	return report.Absent()
}

func started(t time.Time) report.Value {
	if t.IsZero() {
		return report.Absent()
	}
	return report.Number(t.UTC().Format(time.DateTime), t)
}

func size(d *history.Dim3) report.Value {
	if d == nil {
		return report.Absent()
	}
	text := fmt.Sprint(d[0])
	if d[1] != 1 || d[2] != 1 {
		text = fmt.Sprintf("%d×%d", d[0], d[1])
		if d[2] != 1 {
			text += fmt.Sprintf("×%d", d[2])
		}
	}
	return report.Number(text, d.String())
}

func count(n *int64) report.Value {
	if n == nil {
		return report.Absent()
	}
	return report.Number(fmt.Sprint(*n), *n)
}

func bytes(n *int64) report.Value {
	if n == nil {
		return report.Absent()
	}
	return report.Number(report.Bytes(*n), *n)
}
