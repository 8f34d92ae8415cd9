package stats

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is wrapped by every error about the numbers passed in: none, NaN,
// infinite, not positive where a logarithm is taken, of unequal length.
var ErrInput = errors.New("stats: bad input")

func checkFinite(xs []float64) error {
	if len(xs) == 0 {
		return fmt.Errorf("%w: no samples", ErrInput)
	}
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: sample %d is %v", ErrInput, i, x)
		}
	}
	return nil
}

func checkPositive(xs []float64) error {
	if err := checkFinite(xs); err != nil {
		return err
	}
	for i, x := range xs {
		if x <= 0 {
			return fmt.Errorf("%w: time %d is %v, a time must be positive", ErrInput, i, x)
		}
	}
	return nil
}

func checkFraction(name string, p float64) error {
	if !(p > 0 && p < 1) {
		return fmt.Errorf("%w: %s is %v, it must be between 0 and 1", ErrInput, name, p)
	}
	return nil
}

// LogRatios returns ln(arm[i]/base[i]) for rounds measured in pairs. Both must be
// of the same length, finite and positive.
func LogRatios(arm, base []float64) ([]float64, error) {
	if len(arm) != len(base) {
		return nil, fmt.Errorf("%w: %d rounds of the arm against %d of the baseline", ErrInput, len(arm), len(base))
	}
	if err := checkPositive(arm); err != nil {
		return nil, fmt.Errorf("arm: %w", err)
	}
	if err := checkPositive(base); err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	d := make([]float64, len(arm))
	for i := range d {
		// A difference, so that exchanging the arms changes the sign and no bit
		// else: ranks must see those ties.
		d[i] = math.Log(arm[i]) - math.Log(base[i])
	}
	return d, nil
}
