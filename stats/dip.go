package stats

import (
	"math"
	"slices"
)

// dip is Hartigan's dip statistic of an ascending slice: the largest distance
// between the empirical distribution and the nearest unimodal one (Hartigan and
// Hartigan, Annals of Statistics 13, 1985; computed as in Hartigan, Applied
// Statistics 34, 1985, algorithm AS 217). It lies between 1/(2n) and 1/4.
func dip(x []float64) float64 {
	n := len(x)
	if n < 2 || x[0] == x[n-1] {
		return 1 / (2 * float64(max(n, 1)))
	}
	before, after := hulls(x)
	low, high := 0, n-1
	best := 1.0 // in units of 1/(2n), as are all distances below
	for {
		convex := chain(before, high, low) // descending, from high to low
		slices.Reverse(convex)
		concave := chain(after, low, high)

		// The largest gap between the two hulls bounds the modal interval.
		gap, lo, hi := hullGap(x, convex, concave)
		if gap < best {
			break
		}
		// Outside of it, how far does the data stray from each hull?
		stray := math.Max(strayConvex(x, convex, lo), strayConcave(x, concave, hi))
		best = math.Max(best, stray)
		if low == lo && high == hi {
			break
		}
		low, high = lo, hi
	}
	return best / (2 * float64(n))
}

// hulls links every point of the empirical distribution to its predecessor on the
// greatest convex minorant of the points up to it, and to its successor on the
// least concave majorant of the points from it on.
func hulls(x []float64) (before, after []int) {
	n := len(x)
	before, after = make([]int, n), make([]int, n)
	for j := 1; j < n; j++ {
		p := j - 1
		for p > 0 {
			q := before[p]
			if (x[j]-x[p])*float64(p-q) < (x[p]-x[q])*float64(j-p) {
				break
			}
			p = q
		}
		before[j] = p
	}
	after[n-1] = n - 1
	for j := n - 2; j >= 0; j-- {
		p := j + 1
		for p < n-1 {
			q := after[p]
			if (x[p]-x[j])*float64(q-p) < (x[q]-x[p])*float64(p-j) {
				break
			}
			p = q
		}
		after[j] = p
	}
	return before, after
}

// chain follows links from one point until it reaches or passes another.
func chain(link []int, from, to int) []int {
	c := []int{from}
	for i := from; i != to; {
		next := link[i]
		if (from > to) == (next <= to) {
			next = to
		}
		c = append(c, next)
		i = next
	}
	return c
}

// line is the height at x[i] of the chord from point a to point b.
func line(x []float64, a, b, i int) float64 {
	if x[b] == x[a] {
		return float64(b)
	}
	return float64(a) + float64(b-a)*(x[i]-x[a])/(x[b]-x[a])
}

// hullGap finds the largest vertical distance of the concave hull above the
// convex one, at a vertex of either, and the modal interval [lo, hi] there: from
// a vertex of the convex hull to one of the concave hull.
func hullGap(x []float64, convex, concave []int) (gap float64, lo, hi int) {
	gap, lo, hi = -1, convex[0], concave[len(concave)-1]
	j := 0
	for _, v := range convex { // the concave hull seen from the convex vertices
		for j+2 < len(concave) && x[concave[j+1]] < x[v] {
			j++
		}
		// The empirical distribution jumps by one at each point: the convex hull
		// lies under its foot, the concave hull over its head.
		d := line(x, concave[j], concave[j+1], v) - float64(v) + 1
		if d > gap {
			gap, lo, hi = d, v, concave[j+1]
		}
	}
	j = 0
	for _, v := range concave {
		for j+2 < len(convex) && x[convex[j+1]] < x[v] {
			j++
		}
		d := float64(v) - line(x, convex[j], convex[j+1], v) + 1
		if d > gap {
			gap, lo, hi = d, convex[j], v
		}
	}
	return gap, lo, hi
}

// strayConvex is the largest height of the data over the convex hull left of lo.
func strayConvex(x []float64, convex []int, lo int) float64 {
	most := 0.0
	for k := 1; k < len(convex) && convex[k] <= lo; k++ {
		a, b := convex[k-1], convex[k]
		for i := a; i <= b; i++ {
			most = math.Max(most, float64(i)-line(x, a, b, i)+1)
		}
	}
	return most
}

// strayConcave is the largest depth of the data under the concave hull right of hi.
func strayConcave(x []float64, concave []int, hi int) float64 {
	most := 0.0
	for k := 1; k < len(concave); k++ {
		a, b := concave[k-1], concave[k]
		if a < hi {
			continue
		}
		for i := a; i <= b; i++ {
			most = math.Max(most, line(x, a, b, i)-float64(i)+1)
		}
	}
	return most
}
