package stats

import (
	"fmt"
	"math"
	"sort"
)

// Holm adjusts p-values for their number (Holm, Scandinavian Journal of
// Statistics 6, 1979): rejecting where the result is at most α keeps the
// probability of any false rejection at α or below, whatever the dependence.
// The order of the argument is kept.
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("%w: p-value %d is %v", ErrInput, i, v)
		}
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return p[order[a]] < p[order[b]] })
	adjusted := make([]float64, len(p))
	floor := 0.0
	for rank, i := range order {
		floor = math.Max(floor, math.Min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = floor
	}
	return adjusted, nil
}

// Row is one comparison as part of a table.
type Row struct {
	// Interval is the simultaneous one: all of the table's hold together with
	// the confidence of the table. The verdict is read off it.
	Interval Interval
	Verdict  Verdict
	// P is the adjusted p-value of the verdict: the smallest error of the whole
	// table at which the row would be decided. At a look of a stopping rule it can
	// only be compared with the rule's own error.
	P float64
	// PDiffers is Holm's adjusted signed-rank p-value that the ratio is not 1,
	// whatever the margin.
	PDiffers float64
	Warnings []Warning // added by being in a table
}

// DecideTable judges the rows of a table together, such that the probability of
// any false verdict in it is at most alpha, however the rows depend on each other
// (they often share a baseline).
//
// Each row holds three one-sided hypotheses, "not faster", "not slower" and "not
// equivalent", and exactly two of them are true. So of the 3k hypotheses of k
// rows 2k are true, always: Holm's divisors 3k, 3k−1, … may then be replaced by
// the constant 2k (Shaffer, Journal of the American Statistical Association 81,
// 1986). A one-sided level of α/2k is an interval of confidence 1−α/k, read
// against the margin. docs/statistics.md has the argument in full, and why a
// step-down over the rows themselves would not be safe.
func DecideTable(rows []Comparison, alpha float64) ([]Row, error) {
	if err := checkFraction("alpha", alpha); err != nil {
		return nil, err
	}
	return decide(rows, alpha/float64(max(1, len(rows))), alpha)
}

// decide judges every row at its own error `each`, which a correction has made
// from the error `alpha` of the whole.
func decide(rows []Comparison, each, alpha float64) ([]Row, error) {
	differs := make([]float64, len(rows))
	for i, c := range rows {
		differs[i] = c.SignedRank.TwoSided
	}
	differs, err := Holm(differs)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(rows))
	for i, c := range rows {
		out[i] = Row{
			Interval: c.At(1 - each), Verdict: c.VerdictAt(1 - each),
			P: math.Min(1, c.P()*alpha/each), PDiffers: differs[i],
		}
		if c.Rounds >= VerdictRounds && math.Ldexp(1, 1-c.Rounds) > each {
			out[i].Warnings = append(out[i].Warnings, warn(FewRounds,
				"the table asks %.2g of each row, and %d rounds that all agree happen by chance with probability %.2g: the verdict leans on the shape of the distribution",
				each, c.Rounds, math.Ldexp(1, 1-c.Rounds)))
		}
	}
	return out, nil
}
