package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// bootstrap holds the ordered replicates of a Hodges-Lehmann estimate and BCa's
// two corrections.
type bootstrap struct {
	replicates   []float64 // ascending
	bias         float64   // z0
	acceleration float64   // a
	n            int
}

// newBootstrap resamples the Hodges-Lehmann estimate of xs, two values or more.
// The generator is PCG, so the same seed gives the same interval everywhere.
func newBootstrap(xs []float64, estimate float64, resamples int, seed uint64) bootstrap {
	n := len(xs)
	// The jackknife gives the acceleration.
	w := newWalshCounts(xs)
	for i := range w.count {
		w.count[i] = 1
	}
	jack := make([]float64, n)
	for i := range jack {
		w.count[i] = 0
		jack[i] = w.median(n - 1)
		w.count[i] = 1
	}
	b := bootstrap{acceleration: acceleration(jack), n: n}

	rng := rand.New(rand.NewPCG(seed, 0x6d616765)) // a stream of its own
	b.replicates = make([]float64, resamples)
	var below, equal float64
	for r := range b.replicates {
		clear(w.count)
		for range n {
			w.count[rng.Uint64N(uint64(n))]++
		}
		v := w.median(n)
		b.replicates[r] = v
		switch {
		case v < estimate:
			below++
		case v == estimate:
			equal++
		}
	}
	slices.Sort(b.replicates)
	// Replicates equal to the estimate are common with ties; half of them count.
	share := (below + equal/2) / float64(resamples)
	edge := 0.5 / float64(resamples)
	b.bias = distuv.UnitNormal.Quantile(math.Min(1-edge, math.Max(edge, share)))
	return b
}

// acceleration is a sixth of the skewness of the jackknife values, sign reversed
// (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 14).
func acceleration(jack []float64) float64 {
	mean := 0.0
	for _, v := range jack {
		mean += v / float64(len(jack))
	}
	var s2, s3 float64
	for _, v := range jack {
		u := mean - v
		s2 += u * u
		s3 += u * u * u
	}
	if s2 == 0 {
		return 0
	}
	return s3 / (6 * math.Pow(s2, 1.5))
}

// interval is the bias-corrected and accelerated interval (Efron, Journal of the
// American Statistical Association 82, 1987) between the normal quantiles z < 0
// and −z.
func (b bootstrap) interval(z float64) (lo, hi float64) {
	return b.end(b.bias + z), b.end(b.bias - z)
}

// end is the replicate at Φ(bias + w/(1−a·w)). Beyond w = 1/a, where the formula
// has its pole, the replicates have ended.
func (b bootstrap) end(w float64) float64 {
	level := 0.0
	if d := 1 - b.acceleration*w; d > 0 {
		level = distuv.UnitNormal.CDF(b.bias + w/d)
	} else if w > 0 {
		level = 1
	}
	return quantileSorted(b.replicates, level)
}

// expandedInterval is interval made wide enough for few rounds. A bootstrap of n
// values divides by n where n−1 is unbiased and takes normal for Student's
// quantiles; asking it for a smaller tail makes up for both (Hesterberg, The
// American Statistician 69, 2015: the expanded percentile interval).
func (b bootstrap) expandedInterval(tail float64) (lo, hi float64) {
	return b.interval(b.inflation() * b.student().Quantile(tail))
}

// atMost and atLeast are the p-values that expandedInterval implies: the tails at
// which its upper end comes down to x and its lower end up to x. A small atMost
// says that the estimand lies below x. Replicates equal to x count against it.
func (b bootstrap) atMost(x float64) float64 {
	i, _ := slices.BinarySearch(b.replicates, x) // the first not below x
	return b.student().Survival(b.score(x, i))
}

func (b bootstrap) atLeast(x float64) float64 {
	i := sort.Search(len(b.replicates), func(i int) bool { return b.replicates[i] > x })
	return b.student().CDF(b.score(x, i))
}

// score is the Student quantile whose end of expandedInterval is x: it solves
// bias + w/(1−a·w) = Φ⁻¹(level of x) for w = bias + inflation·score, the level
// being the inverse of quantileSorted between the replicates before and at next.
func (b bootstrap) score(x float64, next int) float64 {
	r := b.replicates
	level := 0.0
	switch {
	case next == len(r):
		level = 1
	case next > 0:
		level = (float64(next-1) + (x-r[next-1])/(r[next]-r[next-1])) / float64(len(r)-1)
	}
	if level == 0 || level == 1 {
		return math.Inf(int(2*level - 1))
	}
	u := distuv.UnitNormal.Quantile(level) - b.bias
	d := 1 + b.acceleration*u
	if d <= 0 { // no end of an interval lies there
		return math.Copysign(math.Inf(1), u)
	}
	return (u/d - b.bias) / b.inflation()
}

func (b bootstrap) inflation() float64 { return math.Sqrt(float64(b.n) / float64(b.n-1)) }

func (b bootstrap) student() distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(b.n - 1)}
}

// stdErr is the standard error of the estimate as the bootstrap sees it,
// made unbiased for few rounds.
func (b bootstrap) stdErr() float64 {
	return stat.PopStdDev(b.replicates, nil) * b.inflation()
}
