package stats

import "math"

// The limits of what a time may look like, next to the instrument, to physics and
// to the other instruments.
const (
	// stepsWanted timer steps in a measured interval keep its rounding below 1 %
	// (uniform rounding: a standard deviation of 0.29 steps).
	stepsWanted = 30
	// overheadWanted times the overhead, so that it is below 10 % of the interval.
	overheadWanted = 10
	// floorSlack below the floor is still put down to the floor's own rounding.
	floorSlack = 0.01
)

// NearResolution warns when one measured interval is short against the timer's
// step or the overhead of an empty measurement. interval is what lies between the
// two readings, of all operations that share a sample: median times operations.
// All in one unit; a step or overhead that is not known is 0. ok means a warning.
func NearResolution(interval, step, overhead float64) (w Warning, ok bool) {
	switch {
	case step > 0 && interval < stepsWanted*step:
		return warn(TimerLimited, "%.3g µs is only %.1f steps of the timer (%.3g µs)", interval, interval/step, step), true
	case overhead > 0 && interval < overheadWanted*overhead:
		return warn(TimerLimited, "%.3g µs holds up to %.0f %% of overhead: an empty measurement takes %.3g µs",
			interval, math.Min(100, 100*overhead/interval), overhead), true
	}
	return Warning{}, false
}

// BelowFloor rejects a time that physics does not allow: the warning is fatal. A
// floor of 0 is not known.
func BelowFloor(median, floor float64) (w Warning, ok bool) {
	if floor > 0 && median < floor*(1-floorSlack) {
		return warn(Impossible, "%.4g µs is below the physical floor of %.4g µs: the work was not done, or not timed", median, floor), true
	}
	return Warning{}, false
}

// SpreadExceeds warns when the samples of an arm vary more than the effect that
// is claimed for it: a single run would not show it. Both are relative, the
// spread the distance from the 5 % to the 95 % quantile over the median.
func SpreadExceeds(s Summary, ratio float64) (w Warning, ok bool) {
	if !(s.Median > 0) || !(ratio > 0) {
		return Warning{}, false
	}
	width, effect := (s.P95-s.P5)/s.Median, math.Abs(ratio-1)
	if effect > 0 && width > effect {
		return warn(WideSpread, "samples spread over %.2g %% (5th to 95th percentile), the effect is %.2g %%", 100*width, 100*effect), true
	}
	return Warning{}, false
}

// Clocks holds the medians of one arm on one case, µs per operation, by what they
// were read with. 0 means not measured.
type Clocks struct {
	Kernel  float64 // sum of kernel durations (CUPTI)
	Graph   float64 // graph replay between two events
	Batch   float64 // many launches between two events
	Span    float64 // one operation between two events
	Latency float64 // host clock, submit to completion
}

// Tolerances of orderings between instruments: each has its own zero, and the
// host's clock another rate than the device's, which events and CUPTI share.
const (
	clockRelative       = 0.10
	deviceClockRelative = 0.03
	clockAbsolute       = 1.0 // µs
)

// Check returns a warning for every ordering that must hold and does not. What a
// kernel takes is part of what its operation takes, by any launch path (kernel ≤
// graph, batch, span), up to 3 % and 1 µs, which is more than neighbours in a graph
// overlap: a longer kernel was slowed down by being traced. An operation among many
// on a stream cannot take longer than one alone with its launch and synchronisation
// (graph, batch ≤ latency), and the host sees completion after the device (kernel,
// span ≤ latency), up to 10 % and 1 µs.
func (c Clocks) Check() []Warning {
	var ws []Warning
	atMost := func(what string, a float64, than string, b, relative float64) {
		if a > 0 && b > 0 && a > b*(1+relative)+clockAbsolute {
			ws = append(ws, warn(ClockMismatch, "%s says %.4g µs, more than %s with %.4g µs", what, a, than, b))
		}
	}
	atMost("kernel", c.Kernel, "graph", c.Graph, deviceClockRelative)
	atMost("kernel", c.Kernel, "batch", c.Batch, deviceClockRelative)
	atMost("kernel", c.Kernel, "span", c.Span, deviceClockRelative)
	atMost("kernel", c.Kernel, "latency", c.Latency, clockRelative)
	atMost("graph", c.Graph, "latency", c.Latency, clockRelative)
	atMost("batch", c.Batch, "latency", c.Latency, clockRelative)
	atMost("span", c.Span, "latency", c.Latency, clockRelative)
	return ws
}
