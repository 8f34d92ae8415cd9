package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// ranks gives every value its mean rank, from 1.
func ranks(xs []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return xs[order[a]] < xs[order[b]] })
	r := make([]float64, len(xs))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && xs[order[j]] == xs[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			r[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return r
}

// serialRank is the lag-1 autocorrelation of the ranks and the one-sided p-value
// of a positive one, from Moran's mean and variance of a serial correlation
// (Biometrika 35, 1948): by simulation their level is right for ranks within a
// tenth from ten values on. Ranks keep one wild value from deciding. 0 and 1 when
// there is nothing to correlate.
func serialRank(xs []float64) (r, p float64) {
	n := len(xs)
	if n < 4 {
		return 0, 1
	}
	rk := ranks(xs)
	mean := float64(n+1) / 2
	var num, den float64
	for i, v := range rk {
		den += (v - mean) * (v - mean)
		if i > 0 {
			num += (v - mean) * (rk[i-1] - mean)
		}
	}
	if den == 0 {
		return 0, 1
	}
	r = num / den
	// Mean −1/n, variance (n−2)²/(n²(n−1)).
	m := float64(n)
	sd := (m - 2) / (m * math.Sqrt(m-1))
	return r, distuv.UnitNormal.Survival((r + 1/m) / sd)
}

// mannKendall is Kendall's tau-b of the values with their index and its two-sided
// p-value, tie-corrected (Mann 1945; Kendall 1975). Pairs are counted by merge
// sort, so long series are no burden.
func mannKendall(xs []float64) (tau, p float64) {
	n := len(xs)
	if n < 4 {
		return 0, 1
	}
	s := slices.Clone(xs)
	down := countInversions(s, make([]float64, n)) // sorts s
	var tied, tieTerm float64
	for i := 0; i < n; {
		j := i
		for j < n && s[j] == s[i] {
			j++
		}
		t := float64(j - i)
		tied += t * (t - 1) / 2
		tieTerm += t * (t - 1) * (2*t + 5)
		i = j
	}
	m := float64(n)
	pairs := m * (m - 1) / 2
	score := pairs - tied - 2*float64(down)
	if tied == pairs {
		return 0, 1
	}
	sd := math.Sqrt((m*(m-1)*(2*m+5) - tieTerm) / 18)
	z := math.Max(0, math.Abs(score)-1) / sd
	return score / math.Sqrt(pairs*(pairs-tied)), 2 * distuv.UnitNormal.Survival(z)
}

// countInversions sorts s and returns the number of pairs i<j with s[i] > s[j].
func countInversions(s, tmp []float64) int {
	n := len(s)
	if n < 2 {
		return 0
	}
	h := n / 2
	c := countInversions(s[:h], tmp[:h]) + countInversions(s[h:], tmp[h:])
	copy(tmp, s)
	a, b := tmp[:h], tmp[h:n]
	for k := range s {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			s[k], a = a[0], a[1:]
		} else {
			c += len(a)
			s[k], b = b[0], b[1:]
		}
	}
	return c
}

// shift is the relative step from the median of the first third to that of the
// last, over the median of all.
func shift(xs []float64) float64 {
	third := len(xs) / 3
	if third == 0 {
		return 0
	}
	return (Median(xs[len(xs)-third:]) - Median(xs[:third])) / Median(xs)
}
