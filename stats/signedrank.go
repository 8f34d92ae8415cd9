package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactRounds is the largest number of non-zero differences for which the
// signed-rank distribution is enumerated; beyond it the normal approximation is
// good to three digits.
const exactRounds = 60

// SignedRank holds Wilcoxon's signed-rank test of differences against zero.
type SignedRank struct {
	N     int     // differences that are not zero
	WPlus float64 // sum of the ranks of the positive ones
	// Less, Greater and TwoSided are p-values of the alternatives that the
	// differences lie below, above or on either side of zero.
	Less, Greater, TwoSided float64
	Exact                   bool // enumerated, ties included; else approximated
}

// NewSignedRank tests whether xs are symmetric about zero (Wilcoxon, Biometrics
// Bulletin 1, 1945). Zeros are dropped; ties share their mean rank. Up to 60
// differences the distribution given the observed ties is enumerated, so the
// p-values are exact for quantised times as well; above, the normal approximation
// with tie and continuity correction is used. Without a non-zero difference
// every p-value is 1.
func NewSignedRank(xs []float64) SignedRank {
	type diff struct {
		abs      float64
		positive bool
	}
	ds := make([]diff, 0, len(xs))
	for _, x := range xs {
		if x != 0 {
			ds = append(ds, diff{math.Abs(x), x > 0})
		}
	}
	n := len(ds)
	if n == 0 {
		return SignedRank{Less: 1, Greater: 1, TwoSided: 1, Exact: true}
	}
	slices.SortFunc(ds, func(a, b diff) int { return cmp.Compare(a.abs, b.abs) })

	// Twice the mean ranks are whole numbers, ties or not.
	ranks2 := make([]int, n)
	plus2, tieTerm := 0, 0.0
	for i := 0; i < n; {
		j := i
		for j < n && ds[j].abs == ds[i].abs {
			j++
		}
		for k := i; k < j; k++ {
			ranks2[k] = i + j + 1
			if ds[k].positive {
				plus2 += ranks2[k]
			}
		}
		t := float64(j - i)
		tieTerm += t*t*t - t
		i = j
	}
	r := SignedRank{N: n, WPlus: float64(plus2) / 2, Exact: n <= exactRounds}
	if r.Exact {
		r.Less, r.Greater = signedRankExact(ranks2, plus2)
	} else {
		m := float64(n)
		mean := m * (m + 1) / 4
		sd := math.Sqrt(m*(m+1)*(2*m+1)/24 - tieTerm/48)
		r.Less = distuv.UnitNormal.CDF((r.WPlus - mean + 0.5) / sd)
		r.Greater = distuv.UnitNormal.CDF(-(r.WPlus - mean - 0.5) / sd)
	}
	r.TwoSided = math.Min(1, 2*math.Min(r.Less, r.Greater))
	return r
}

// signedRankExact gives P(W+ ≤ w) and P(W+ ≥ w) when every sign is a fair coin.
func signedRankExact(ranks2 []int, w2 int) (atMost, atLeast float64) {
	total := 0
	for _, r := range ranks2 {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	top := 0
	for _, r := range ranks2 {
		top += r
		for s := top; s >= 0; s-- {
			v := p[s] / 2
			if s >= r {
				v += p[s-r] / 2
			}
			p[s] = v
		}
	}
	for s, v := range p {
		if s <= w2 {
			atMost += v
		}
		if s >= w2 {
			atLeast += v
		}
	}
	return math.Min(1, atMost), math.Min(1, atLeast)
}
