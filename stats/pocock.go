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
// Methods, 2000, section 4.4); the simulation in docs/statistics.md checks that.
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
	const points = 121 // Simpson's rule on each look's range, odd
	var at, mass [points]float64
	for k, r := range looks {
		edge := c * math.Sqrt(float64(r))
		h := 2 * edge / (points - 1)
		var nextAt, next [points]float64
		for i := range nextAt {
			x := -edge + h*float64(i)
			density := 0.0
			if k == 0 {
				sd := math.Sqrt(float64(r))
				density = math.Exp(-x*x/(2*sd*sd)) / (sd * math.Sqrt(2*math.Pi))
			} else {
				step := float64(r - looks[k-1])
				for j, m := range mass {
					u := x - at[j]
					density += m * math.Exp(-u*u/(2*step))
				}
				density /= math.Sqrt(2 * math.Pi * step)
			}
			weight := h / 3 * float64(2+2*(i%2))
			if i == 0 || i == points-1 {
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
