package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat"
)

// Summary describes one set of samples without assuming a distribution. Every
// field has the unit of the samples, but N, CV and Confidence.
type Summary struct {
	N      int
	Median float64
	// Lo and Hi enclose the median with at least Confidence, whatever the
	// distribution (order statistics). They are ±Inf when N is too small, which a
	// warning then says.
	Lo, Hi, Confidence float64
	MAD                float64 // median absolute deviation, not rescaled
	P5, P95            float64 // interpolated quantiles (type 7)
	Min, Max           float64
	Mean               float64
	CV                 float64 // standard deviation over mean; 0 for one sample
	Warnings           []Warning
}

// Summarize describes the samples at the given confidence (0.95) for the median's
// interval. It needs one sample at least and finite values; it does not reorder
// its argument.
func Summarize(samples []float64, confidence float64) (Summary, error) {
	if err := checkFinite(samples); err != nil {
		return Summary{}, err
	}
	if err := checkFraction("confidence", confidence); err != nil {
		return Summary{}, err
	}
	s := slices.Clone(samples)
	center := benchmath.AssumeNothing.Summary(
		benchmath.NewSample(s, &benchmath.DefaultThresholds), confidence) // sorts s
	r := Summary{
		N: len(s), Median: center.Center, Lo: center.Lo, Hi: center.Hi, Confidence: center.Confidence,
		P5: quantileSorted(s, 0.05), P95: quantileSorted(s, 0.95), Min: s[0], Max: s[len(s)-1],
		Mean: stat.Mean(s, nil),
	}
	r.MAD = mad(s, r.Median)
	if r.N > 1 && r.Mean != 0 {
		r.CV = stat.StdDev(s, nil) / math.Abs(r.Mean)
	}
	for _, w := range center.Warnings {
		r.Warnings = append(r.Warnings, warn(FewRounds, "%v", w))
	}
	if r.N > 1 && r.Min == r.Max {
		r.Warnings = append(r.Warnings, warn(NoSpread, "all %d samples are %g: the timer's step hides the spread", r.N, r.Min))
	}
	return r, nil
}
