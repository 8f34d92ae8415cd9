package ancestor

import (
	"math"
	"slices"

	"mage/contract"
)

// readCell reads what one implementation did in one round.
func (o *operation) readCell(n node, r *results) cell {
	var c cell
	iterations, warmup := n.get("iterations"), n.get("warmup")
	iterations.equal(iterations.count(1), r.iterations, "iterations_per_round")
	warmup.equal(warmup.count(0), r.warmup, "warmup_per_round")
	samples := n.get("samples_us")
	for _, m := range samples.list() {
		us := m.number(0)
		if us == 0 {
			m.fail("is zero: no operation takes no time")
		}
		c.samples = append(c.samples, us)
	}
	if len(c.samples) != r.iterations {
		samples.fail("holds %d samples, where iterations_per_round is %d", len(c.samples), r.iterations)
	}
	n.get("event_mean_us").near(mean(c.samples), "the mean of the samples")
	if m, ok := n.maybe("event_median_us"); ok {
		m.near(median(c.samples), "the median of the samples")
	}
	if m, ok := n.maybe("op"); ok && m.text() != o.name {
		m.fail("is %q in the results of %q", m.text(), o.name)
	}
	if m, ok := n.maybe("dims"); ok {
		for i, d := range m.list() {
			if i < len(o.dimOrder) {
				d.equal(d.count(0), o.dims[o.dimOrder[i]], "that of the operation")
			}
		}
		if len(m.list()) != len(o.dimOrder) {
			m.fail("holds %d numbers, those of the operation are %d", len(m.list()), len(o.dimOrder))
		}
	}
	if m, ok := n.maybe("capture"); ok && m.boolean() {
		m.fail("is true: it was timed under a profiler, and its times are not those of the others")
	}
	if m, ok := n.maybe("run_id"); ok {
		c.runID = m.text()
	}
	if m, ok := n.maybe("precision"); ok {
		c.precision = m.text()
	}
	o.readCheck(n.get("correctness"), &c)
	return c
}

func (o *operation) readCheck(n node, c *cell) {
	if passed := n.get("passed"); !passed.boolean() {
		passed.fail("is false: the output was wrong, and the time of a wrong output means nothing")
	}
	c.maxAbsError = n.get("max_abs_error").number(0)
	tolerance := contract.Tolerance{Rtol: n.get("rtol").number(0), Atol: n.get("atol").number(0)}
	if o.tolerance == (contract.Tolerance{}) {
		o.tolerance = tolerance
	} else if tolerance != o.tolerance {
		n.fail("has rtol %v and atol %v, others of this operation %v and %v", tolerance.Rtol, tolerance.Atol, o.tolerance.Rtol, o.tolerance.Atol)
	}
	checked := n.get("checked_elements")
	c.checked = checked.count(1)
	if o.contract != nil && !n.bad() {
		out := 1
		for _, d := range o.contract.Output(o.dims).Shape {
			out *= d
		}
		checked.equal(c.checked, out, "the number of output elements")
	}
}

// near fails unless the number is want to the digits that a float32 sum keeps.
func (n node) near(want float64, what string) {
	got := n.number(0)
	if !n.bad() && math.Abs(got-want) > 1e-6*want {
		n.fail("is %v, but %s is %v", got, what, want)
	}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
