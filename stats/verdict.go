package stats

import "math"

// Verdict is the answer of a comparison against a margin.
type Verdict string

// The verdicts. Faster and Slower are about the arm, seen from the baseline.
const (
	Faster     Verdict = "faster"     // the whole interval lies below the margin
	Slower     Verdict = "slower"     // the whole interval lies above it
	Equivalent Verdict = "equivalent" // the whole interval lies inside it
	Undecided  Verdict = "undecided"  // the interval straddles an edge
)

// Interval is a confidence interval of a ratio.
type Interval struct {
	Lo         float64 `json:"lo"`
	Hi         float64 `json:"hi"`
	Confidence float64 `json:"confidence"`
}

// Contains reports whether x lies in the closed interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// Judge places the interval against the margin m, a fraction: ratios within
// [1/(1+m), 1+m] count as equivalent. Without a margin nothing does.
func (i Interval) Judge(m float64) Verdict {
	lo, hi := 1/(1+m), 1+m
	switch {
	case i.Hi < lo:
		return Faster
	case i.Lo > hi:
		return Slower
	case m > 0 && lo <= i.Lo && i.Hi <= hi:
		return Equivalent
	}
	return Undecided
}

// reach is the largest effect that the interval allows, as a fraction: the m of
// the smallest margin that holds all of it.
func (i Interval) reach() float64 { return math.Max(1/i.Lo, i.Hi) - 1 }
