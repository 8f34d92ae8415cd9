package ceiling

import (
	"fmt"
	"slices"
	"strings"

	"mage/gpu"
)

// mostDrift of the clock between two readings raises a doubt, as in an experiment.
const mostDrift = 0.05

// doubts are conditions around a measurement that may have lowered what it shows.
func doubts(before, after gpu.State) []string {
	var out []string
	if a, b := before.SMClockMHz, after.SMClockMHz; a != nil && b != nil && *a > 0 {
		if d := float64(*b)/float64(*a) - 1; d < -mostDrift {
			out = append(out, fmt.Sprintf("the clock fell from %d to %d MHz", *a, *b))
		}
	}
	throttle := slices.Concat(before.Throttle, after.Throttle)
	slices.Sort(throttle)
	if throttle = slices.Compact(throttle); len(throttle) > 0 {
		out = append(out, "throttled: "+strings.Join(throttle, ", "))
	}
	if n := max(others(before), others(after)); n > 0 {
		out = append(out, fmt.Sprintf("%d other processes on the device", n))
	}
	return out
}

// Caveats are what to know about a ceiling of the file: doubts that were raised when it
// was measured, and what its numbers show by themselves.
func (f *File) Caveats(c Ceiling) []string {
	out := slices.Clone(c.Doubts)
	p := c.Confirmed
	if p == nil || c.Unit == Microseconds { // times of launches spread by nature
		return out
	}
	if p.Low > 0 && p.High/p.Low-1 > mostDrift {
		out = append(out, "the samples spread as under a clock that changes")
	}
	if peak := f.Nominal(c.Name); peak > 0 && p.Median > peak {
		out = append(out, fmt.Sprintf("%.0f %% of what the device's attributes promise: the kernel does less than is counted, or they are wrong", 100*p.Median/peak))
	}
	return out
}

func others(s gpu.State) int {
	if s.OtherProcesses == nil {
		return 0
	}
	return *s.OtherProcesses
}
