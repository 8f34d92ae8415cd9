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
// the step from one node to the next instead. ncu may differ by more: it runs a
// kernel alone, once for each group of counters, and its window is longer.
const (
	toleranceUS  = 0.7
	withNCUUS    = 2
	tolerancePct = 3
)

// columns of the table. The first four are readings of the kernel alone, ncu's the
// last of them.
var columns = [...]string{"graph replay", "CUPTI in process", "CUPTI injected", "ncu", "batch", "span"}

const (
	ncu      = 3
	ofKernel = 4
)

// row is one case; a missing reading is NaN.
type row struct {
	name     string
	readings [len(columns)]float64 // µs
}

// read are the first n readings that there are.
func (r row) read(n int) (out []float64) {
	for _, v := range r.readings[:n] {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// spread is the largest difference between two of the first n readings, NaN where
// there are no two.
func (r row) spread(n int) float64 {
	v := r.read(n)
	if len(v) < 2 {
		return math.NaN()
	}
	return slices.Max(v) - slices.Min(v)
}

// tolerance is what the spread of the first n readings may be.
func (r row) tolerance(n int) float64 {
	us := float64(toleranceUS)
	if n > ncu {
		us = withNCUUS
	}
	for _, v := range r.read(n) {
		us = max(us, v*tolerancePct/100)
	}
	return us
}

// judge says which of the readings differ by more than they may.
func (r row) judge() error {
	for _, n := range []int{ncu, ofKernel} {
		if r.spread(n) > r.tolerance(n) {
			who := map[int]string{ncu: "graph replay and CUPTI", ofKernel: "graph replay, CUPTI and ncu"}[n]
			return fmt.Errorf("%s: %s differ by %.2f µs, more than %.2f", r.name, who, r.spread(n), r.tolerance(n))
		}
	}
	return nil
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
	b.WriteString(" largest difference of the first three | and with ncu |\n|")
	b.WriteString(strings.Repeat(" --- |", len(columns)+3) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, v := range append(r.readings[:], r.spread(ncu), r.spread(ofKernel)) {
			if math.IsNaN(v) {
				b.WriteString(" – |")
			} else {
				fmt.Fprintf(&b, " %.2f |", v)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
