package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// pocockLevel returns the two-sided level to use at each of the looks, taken at
// the given ascending numbers of rounds, such that a mean of zero is called
// different at any of them with probability alpha. Mean over standard error is a
// Brownian motion seen at those rounds; its probability of never leaving ±c is
// found by the recursive integration of Armitage, McPherson and Rowe (Journal of
// the Royal Statistical Society A 132, 1969), and c by bisection. The level is
// then applied to Student's quantiles (Jennison and Turnbull, Group Sequential
// Methods, 2000); the simulation in docs/statistics.md checks that.
func pocockLevel(looks []int, alpha float64) float64 {
	normal := distuv.UnitNormal
	// Bonferroni over the looks is safe; a single look is the least one can ask.
	lo := -normal.Quantile(alpha / 2)
	hi := -normal.Quantile(alpha / 2 / float64(len(looks)))
	for hi-lo > 1e-6 {
		c := (lo + hi) / 2
		if crossing(looks, c) > alpha {
			lo = c
		} else {
			hi = c
		}
	}
	return 2 * normal.Survival(hi)
}

// crossing is the probability that |S_r|/√r > c at any of the looks r, S being a
// sum of r standard normals.
func crossing(looks []int, c float64) float64 {
	// Simpson's rule on a grid of half a standard deviation of a step between
	// looks; eight of them away the normal density is nothing.
	var at, mass []float64
	for k, r := range looks {
		edge := c * math.Sqrt(float64(r))
		step := float64(r)
		if k > 0 {
			step = float64(r - looks[k-1])
		}
		spacing := math.Sqrt(step) / 2
		if k+1 < len(looks) { // the next step must be resolved from here
			spacing = math.Min(spacing, math.Sqrt(float64(looks[k+1]-r))/2)
		}
		n := max(40, int(math.Ceil(2*edge/spacing)))
		n += n % 2
		h := 2 * edge / float64(n)
		nextAt, next := make([]float64, n+1), make([]float64, n+1)
		norm := 1 / math.Sqrt(2*math.Pi*step)
		first := 0
		for i := range next {
			x := -edge + h*float64(i)
			density := 0.0
			if k == 0 {
				density = norm * math.Exp(-x*x/(2*step))
			} else {
				reach := 8 * math.Sqrt(step)
				for first < len(at) && at[first] < x-reach {
					first++
				}
				for j := first; j < len(at) && at[j] <= x+reach; j++ {
					u := x - at[j]
					density += norm * mass[j] * math.Exp(-u*u/(2*step))
				}
			}
			weight := h / 3 * float64(2+2*(i%2))
			if i == 0 || i == n {
				weight = h / 3
			}
			nextAt[i], next[i] = x, density*weight
		}
		at, mass = nextAt, next
	}
	stay := 0.0
	for _, m := range mass {
		stay += m
	}
	return 1 - stay
}
