package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mage/capture"
	"mage/report"
)

// column is one column of the summary.
type column struct {
	report.Column
	analysis bool // from counters
	of       func(*Group) report.Value
}

// columns are all but those of the grouping, in their usual order.
func columns() []column {
	right := func(key, head, unit string, drop int, of func(*Group) report.Value) column {
		return column{Column: report.Column{Key: key, Head: head, Unit: unit, Align: report.Right, Drop: drop}, of: of}
	}
	counter := func(key, head, unit string, drop int, of func(*capture.Analysis) *float64, text func(float64) string) column {
		c := right(key, head, unit, drop, func(g *Group) report.Value { return value(of(g.Analysis), text) })
		c.analysis = true
		return c
	}
	return []column{
		right("calls", "calls", "", 2, func(g *Group) report.Value { return report.Value{Text: fmt.Sprint(g.Launches), Data: g.Launches} }),
		right("total", "total", "µs", 0, func(g *Group) report.Value { return value(g.TotalUS, timeText) }),
		right("mean", "mean", "µs", 3, func(g *Group) report.Value { return value(g.MeanUS, timeText) }),
		right("min", "min", "µs", 5, func(g *Group) report.Value { return value(g.MinUS, timeText) }),
		right("max", "max", "µs", 5, func(g *Group) report.Value { return value(g.MaxUS, timeText) }),
		right("share", "share", "", 2, func(g *Group) report.Value { return value(g.Share, percent) }),
		{Column: report.Column{Key: "grid", Head: "grid", Drop: 6}, of: func(g *Group) report.Value { return word(g.Grid) }},
		{Column: report.Column{Key: "block", Head: "block", Drop: 6}, of: func(g *Group) report.Value { return word(g.Block) }},
		right("registers", "registers", "", 7, func(g *Group) report.Value { return count(g.Register) }),
		right("shared", "shared", "B", 7, func(g *Group) report.Value { return bytesOf(g.Shared) }),
		counter("bytes", "DRAM bytes", "B", 5, func(a *capture.Analysis) *float64 { return a.Bytes }, bytesText),
		counter("bandwidth", "bandwidth", "B/s", 1, func(a *capture.Analysis) *float64 { return a.Bandwidth }, func(v float64) string { return bytesText(v) + "/s" }),
		counter("flops", "FLOP", "", 5, func(a *capture.Analysis) *float64 { return a.FLOPs }, func(v float64) string { return prefixed(v, "FLOP") }),
		counter("rate", "FLOP/s", "", 3, func(a *capture.Analysis) *float64 { return a.Rate }, func(v float64) string { return prefixed(v, "FLOP/s") }),
		counter("intensity", "FLOP/B", "", 1, func(a *capture.Analysis) *float64 { return a.Intensity }, func(v float64) string { return significant(v, 3) }),
		counter("dram", "DRAM busy", "", 3, func(a *capture.Analysis) *float64 { return a.DRAMBusy }, percent),
		counter("l2", "L2 busy", "", 4, func(a *capture.Analysis) *float64 { return a.L2Busy }, percent),
		counter("sm", "SM busy", "", 3, func(a *capture.Analysis) *float64 { return a.SMBusy }, percent),
		counter("occupancy", "occupancy", "", 4, func(a *capture.Analysis) *float64 { return a.Occupancy }, percent),
		counter("l1_hits", "L1 hits", "", 5, func(a *capture.Analysis) *float64 { return a.L1HitRate }, percent),
		counter("l2_hits", "L2 hits", "", 5, func(a *capture.Analysis) *float64 { return a.L2HitRate }, percent),
		{Column: report.Column{Key: "bottleneck", Head: "bottleneck"}, analysis: true, of: func(g *Group) report.Value { return word(g.Analysis.Bottleneck) }},
	}
}

var usual = []string{"calls", "total", "mean", "min", "max", "share", "grid", "block", "registers", "shared"}

var analyzed = []string{"calls", "total", "mean", "share", "bytes", "bandwidth", "rate", "intensity", "dram", "l2", "sm", "occupancy", "l1_hits", "l2_hits", "bottleneck"}

// Columns lists the keys that can be chosen.
func Columns() []string {
	var out []string
	for _, c := range columns() {
		out = append(out, c.Key)
	}
	return out
}

// choose returns the columns asked for; what the grouping shows is not repeated.
func choose(o Options, by []string) ([]column, error) {
	all := columns()
	keys := o.Columns
	if len(keys) == 0 {
		keys = usual
		if o.Analyze {
			keys = analyzed
		}
	}
	var out []column
	for _, k := range keys {
		i := slices.IndexFunc(all, func(c column) bool { return c.Key == k })
		switch {
		case slices.Contains(by, k):
		case i < 0:
			return nil, &capture.UsageError{Problem: fmt.Sprintf("there is no column %q; choose of %s", k, strings.Join(Columns(), ", "))}
		default:
			c := all[i]
			if len(o.Columns) > 0 {
				c.Drop = 0 // who asks for a column gets it, however narrow the terminal is
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func word(s string) report.Value {
	if s == "" {
		return report.Value{Text: "–", Tone: report.Faint}
	}
	return report.Value{Text: s, Data: s}
}

func value(v *float64, text func(float64) string) report.Value {
	if v == nil {
		return report.Value{Text: "unknown", Tone: report.Faint}
	}
	return report.Value{Text: text(*v), Data: *v}
}

// bytesOf are exact: a kernel's shared memory is held against a limit.
func bytesOf(n *int) report.Value {
	if n == nil {
		return word("")
	}
	return report.Value{Text: fmt.Sprintf("%d B", *n), Data: *n}
}

func count(n *int) report.Value {
	if n == nil {
		return word("")
	}
	return report.Value{Text: fmt.Sprint(*n), Data: *n}
}

// significant writes x with n significant digits and no exponent.
func significant(x float64, n int) string {
	if x == 0 {
		return "0"
	}
	// The exponent is that of the rounded number: 0.99996 has that of 1.000.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', n-1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil { // infinite, or no number
		return strconv.FormatFloat(x, 'g', n, 64)
	}
	return strconv.FormatFloat(x, 'f', min(max(n-1-e, 0), 12), 64)
}

func percent(f float64) string { return significant(100*f, 3) + " %" }

// timeText writes a time of microseconds in the unit that fits it.
func timeText(us float64) string {
	switch {
	case us >= 1e6:
		return significant(us/1e6, 4) + " s"
	case us >= 1e3:
		return significant(us/1e3, 4) + " ms"
	}
	return significant(us, 4) + " µs"
}

func bytesText(v float64) string { return prefixed(v, "B") }

func prefixed(v float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for math.Abs(v) >= 1000 && i < len(prefixes)-1 {
		v /= 1000
		i++
	}
	return significant(v, 3) + " " + prefixes[i] + unit
}
