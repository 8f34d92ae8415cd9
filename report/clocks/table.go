package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mage/evidence"
	"mage/stats"
)

// What the device's own clock says of one kernel may differ by this much, whoever
// reads it: the larger of an absolute and a relative part. Graph replay is among
// them: per operation it lacks the ramp that neighbouring kernels share, and has
// the step from one node to the next instead.
const (
	toleranceUS  = 0.7
	tolerancePct = 3
)

// columns of the table. The first four are readings of the kernel alone.
var columns = [...]string{"graph replay", "CUPTI in process", "CUPTI injected", "ncu", "batch", "span"}

const ofKernel = 4

// row is one case; a missing reading is NaN.
type row struct {
	name     string
	readings [len(columns)]float64 // µs
}

// spread is the largest difference between two readings of the kernel alone.
func (r row) spread() float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range r.readings[:ofKernel] {
		if !math.IsNaN(v) {
			least, most = min(least, v), max(most, v)
		}
	}
	return most - least
}

// tolerance is what the spread may be.
func (r row) tolerance() float64 {
	most := 0.0
	for _, v := range r.readings[:ofKernel] {
		if !math.IsNaN(v) {
			most = max(most, v)
		}
	}
	return max(toleranceUS, most*tolerancePct/100)
}

// rows are the cases of the arm in the records' order, each reading the median of
// all samples that count, of every record.
func rows(runs []*evidence.Run, arm string) []row {
	samples := map[string]*[len(columns)][]float64{}
	var order []string
	add := func(id string, column int, us ...float64) {
		if samples[id] == nil {
			samples[id] = &[len(columns)][]float64{}
			order = append(order, id)
		}
		samples[id][column] = append(samples[id][column], us...)
	}
	for _, run := range runs {
		for _, l := range run.Lines {
			if at := columnOf(l); at >= 0 && l.Arm == arm && len(l.Disturbed) == 0 {
				add(l.Case, at, l.Samples...)
			}
		}
		for _, c := range run.Captures {
			if at := slices.Index([]string{"cupti", "ncu"}, c.Backend); at >= 0 && c.Arm == arm && c.KernelUS != nil {
				add(c.Case, 2+at, *c.KernelUS)
			}
		}
	}
	var out []row
	for _, id := range order {
		r := row{name: id}
		if parts := strings.Split(id, "/"); len(parts) > 2 {
			r.name = parts[0] + " " + parts[2]
		}
		for i, s := range samples[id] {
			r.readings[i] = math.NaN()
			if len(s) > 0 {
				r.readings[i] = stats.Median(s)
			}
		}
		out = append(out, r)
	}
	return out
}

func columnOf(l evidence.Line) int {
	mode, _, _ := strings.Cut(l.Mode, ":")
	if l.Cache != "hot" {
		return -1
	}
	return slices.Index([]string{"graph", "kernel", "", "", "batch", "span"}, mode)
}

// table is Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| kernel, µs |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString(" largest difference of the first four |\n|")
	b.WriteString(strings.Repeat(" --- |", len(columns)+2) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, v := range r.readings {
			if math.IsNaN(v) {
				b.WriteString(" – |")
			} else {
				fmt.Fprintf(&b, " %.2f |", v)
			}
		}
		fmt.Fprintf(&b, " %.2f |\n", r.spread())
	}
	return b.String()
}
