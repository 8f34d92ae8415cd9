package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The thresholds of the warnings. A warning about a distribution needs both
// significance, at a level so small that a table of hundreds of cells stays quiet
// when all is well, and a size that could matter: with many samples everything is
// significant, with few everything is large.
const (
	inspectLevel  = 0.001
	defaultMatter = 0.01 // relative
	// seriousCorrelation halves the number of independent samples:
	// (1−r)/(1+r) = 0.54 at r = 0.3.
	seriousCorrelation = 0.3
	// dipLimit on √n·dip has a level below 0.01 for every n: the 99 % points of the
	// uniform distribution, the least favourable one, are 0.51 at n = 10, 0.57 at
	// 50, 0.61 at 200 and 0.62 at 2000. stateDistance takes it further down.
	dipLimit = 0.62
	// stateDistance is the least distance of two states in mean deviations within
	// them; halves of a uniform distribution lie 4 apart, of a normal one 2.9.
	stateDistance = 6
	// wild samples on either end do not take part in finding the states.
	wild = 0.02
	// minInspect samples are the least that can show anything at inspectLevel.
	minInspect = 10
	// dependentRoundsLevel is larger because rounds are few.
	dependentRoundsLevel = 0.01
)

// Inspect looks for what is wrong with samples in the order in which they were
// taken: drift, autocorrelation, more than one state. matter is the relative size
// from which a drift or a distance of states is worth a warning, the margin of
// the comparison for instance; 0 means 0.01. Fewer than ten samples, and samples
// that are all alike, give no warning. Of independent samples, about one set
// in a thousand at the most gets each of the three (docs/statistics.md).
func Inspect(samples []float64, matter float64) ([]Warning, error) {
	if err := checkPositive(samples); err != nil {
		return nil, err
	}
	if matter == 0 {
		matter = defaultMatter
	}
	if len(samples) < minInspect {
		return nil, nil
	}
	var ws []Warning
	if tau, p := mannKendall(samples); p < inspectLevel {
		if s := shift(samples); math.Abs(s) >= matter {
			ws = append(ws, warn(Drift, "the last third of %d samples lies %+.1f %% from the first (Kendall's tau %.2f)", len(samples), 100*s, tau))
		}
	}
	if r, p := serialRank(samples); p < inspectLevel && r >= seriousCorrelation {
		ws = append(ws, warn(Autocorrelation, "neighbouring samples correlate (%.2f): %d samples are worth about %.0f",
			r, len(samples), float64(len(samples))*(1-r)/(1+r)))
	}
	if lo, hi, ok := modes(samples, matter); ok {
		ws = append(ws, warn(Bimodal, "two states, near %.4g and %.4g (%+.1f %%)", lo, hi, 100*(hi/lo-1)))
	}
	return ws, nil
}

// modes reports whether the samples have two states, and the medians of both
// sides of the split that explains most of the variance. The dip says that the
// distribution has more than one peak, the distance that the peaks stand apart.
func modes(samples []float64, matter float64) (lo, hi float64, ok bool) {
	s := sorted(samples)
	if s[0] == s[len(s)-1] || math.Sqrt(float64(len(s)))*dip(spread(s)) <= dipLimit {
		return 0, 0, false
	}
	cut := int(wild * float64(len(s)))
	s = s[cut : len(s)-cut]
	k := split(s)
	lo, hi = medianSorted(s[:k]), medianSorted(s[k:])
	within := 0.0
	for i, v := range s {
		if i < k {
			within += math.Abs(v-lo) / float64(len(s))
		} else {
			within += math.Abs(v-hi) / float64(len(s))
		}
	}
	return lo, hi, hi-lo >= stateDistance*within && hi/lo-1 >= matter
}

// spread undoes a timer's steps: each value of an ascending slice moves by a
// random part of half the smallest step, so that a staircase becomes a histogram.
// Otherwise every step would look like a state of its own. The seed is fixed:
// equal samples, equal warnings.
func spread(s []float64) []float64 {
	step := math.Inf(1)
	for i := 1; i < len(s); i++ {
		// Times divided by a count differ by rounding where the timer saw one value.
		if d := s[i] - s[i-1]; d > 1e-9*math.Abs(s[i]) {
			step = math.Min(step, d)
		}
	}
	if math.IsInf(step, 1) {
		return s
	}
	rng := rand.New(rand.NewPCG(1, 0))
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = v + step*(rng.Float64()-0.5)
	}
	slices.Sort(out)
	return out
}

// split is the index that parts an ascending slice into two groups of the
// smallest total variance (Otsu's method; k-means with two means).
func split(s []float64) int {
	total := 0.0
	for _, v := range s {
		total += v
	}
	n, left, best, at := float64(len(s)), 0.0, -1.0, 1
	for i, v := range s[:len(s)-1] {
		left += v
		a := float64(i + 1)
		d := left/a - (total-left)/(n-a)
		if between := a * (n - a) * d * d; between > best {
			best, at = between, i+1
		}
	}
	return at
}
