package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Resolution is what an A/A control says: the same arm measured twice, so that
// every difference is noise.
type Resolution struct {
	// Effect is the smallest relative difference that can be told from nothing: the
	// largest one that the interval of the control against its twin still allows
	// (0.004 is 0.4 %), and the floor if that is larger.
	Effect float64
	// Interval is that of the control's ratio; of a pool, the widest.
	Interval Interval
	// FalsePositives counts, of Cells controls, those whose interval excludes 1:
	// a difference claimed where there is none. P is the probability of that many
	// or more if every interval held its level.
	Cells, FalsePositives int
	P                     float64
	Warnings              []Warning
}

// NewResolution compares the control with its twin, round by round. The floor is
// what is known beforehand to be unresolvable, as a fraction: the timer's step
// over the median ([TimerFloor]), or 0. The margin and the resolution of the
// options are not used.
func NewResolution(control, base []float64, floor float64, o Options) (Resolution, error) {
	o.Margin, o.Resolution = 0, 0
	if !(floor >= 0) || math.IsInf(floor, 0) {
		return Resolution{}, fmt.Errorf("%w: resolution floor %v", ErrInput, floor)
	}
	c, err := Paired(control, base, o)
	if err != nil {
		return Resolution{}, fmt.Errorf("A/A control: %w", err)
	}
	r := Resolution{Effect: math.Max(c.Interval.reach(), floor), Interval: c.Interval, Cells: 1}
	r.Warnings = append(r.Warnings, c.Warnings...)
	if !c.Interval.Contains(1) && c.Rounds >= VerdictRounds {
		r.FalsePositives = 1
		r.Warnings = append(r.Warnings, warn(ControlDiffers, "the control differs from itself by %+.2g %% [%+.2g, %+.2g]",
			100*(c.Ratio-1), 100*(c.Interval.Lo-1), 100*(c.Interval.Hi-1)))
	}
	r.P = r.falsePositiveP()
	return r, nil
}

// PoolResolutions combines the controls of several cells measured alike. The
// effect is the largest of them, so that it holds in every cell; the false
// positives are counted against their expectation, and a warning says when they
// are too many to be chance (P < 0.01). No cells give the zero value.
func PoolResolutions(cells []Resolution) Resolution {
	var pool Resolution
	for _, r := range cells {
		if pool.Cells == 0 || r.Effect > pool.Effect {
			pool.Effect = r.Effect
		}
		if pool.Cells == 0 || r.Interval.reach() > pool.Interval.reach() {
			pool.Interval = r.Interval
		}
		pool.Cells += r.Cells
		pool.FalsePositives += r.FalsePositives
	}
	if pool.Cells == 0 {
		return pool
	}
	if pool.P = pool.falsePositiveP(); pool.P < 0.01 {
		pool.Warnings = append(pool.Warnings, warn(ControlDiffers, "%d of %d controls differ from themselves, %.2g expected (p = %.2g)",
			pool.FalsePositives, pool.Cells, float64(pool.Cells)*(1-pool.Interval.Confidence), pool.P))
	}
	return pool
}

func (r Resolution) falsePositiveP() float64 {
	if r.FalsePositives == 0 {
		return 1
	}
	b := distuv.Binomial{N: float64(r.Cells), P: 1 - r.Interval.Confidence}
	return b.Survival(float64(r.FalsePositives - 1))
}

// TimerFloor is the relative difference that a timer of the given step cannot
// show in a time shared by that many operations; all in the unit of the median.
func TimerFloor(step, median float64, operations int) float64 {
	if !(median > 0) || !(step > 0) {
		return 0
	}
	return step / (median * float64(max(1, operations)))
}
