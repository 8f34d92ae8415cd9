package stats

import (
	"cmp"
	"slices"
)

// walshCounts finds the Hodges-Lehmann estimate of many resamples of one sample.
// The Walsh averages of a resample are those of the sample, each as often as its
// two members were drawn, so they are sorted once and every estimate is a
// weighted median: a scan without a sort.
type walshCounts struct {
	pairs []walshPair // ascending
	count []int32     // how often each value occurs in the resample
}

type walshPair struct {
	value float64
	i, j  int32 // i ≤ j
}

func newWalshCounts(xs []float64) walshCounts {
	n := len(xs)
	w := walshCounts{make([]walshPair, 0, n*(n+1)/2), make([]int32, n)}
	for i, x := range xs {
		for j := i; j < n; j++ {
			w.pairs = append(w.pairs, walshPair{midpoint(x, xs[j]), int32(i), int32(j)})
		}
	}
	slices.SortFunc(w.pairs, func(a, b walshPair) int { return cmp.Compare(a.value, b.value) })
	return w
}

// median is the midpoint median of the Walsh averages of the resample of `size`
// values that count describes.
func (w walshCounts) median(size int) float64 {
	m := int32(size * (size + 1) / 2)
	lo, hi := (m+1)/2, m/2+1 // ranks of the middle one or two
	var rank int32
	for k := range w.pairs {
		p := &w.pairs[k]
		c := w.count[p.i]
		if p.i == p.j {
			rank += c * (c + 1) / 2
		} else {
			rank += c * w.count[p.j]
		}
		if rank >= hi {
			return p.value
		}
		if rank >= lo {
			// The upper middle is the next average that occurs at all.
			for _, q := range w.pairs[k+1:] {
				if w.count[q.i] > 0 && w.count[q.j] > 0 {
					return midpoint(p.value, q.value)
				}
			}
		}
	}
	return w.pairs[len(w.pairs)-1].value
}
