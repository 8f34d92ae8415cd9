// Package truth makes rounds and samples whose true ratio is known, for the
// simulations that check package stats. It must not know how they are analysed.
package truth

import (
	"math"
	"math/rand/v2"
)

// Scenario draws rounds of two arms whose log-ratio has its pseudo-median at
// ln(ratio): µs around 10, with a noise of about 1 %.
type Scenario struct {
	Name string
	// Independent says whether the rounds are independent, which every interval of
	// the package assumes.
	Independent bool
	Draw        func(rng *rand.Rand, rounds int, ratio float64) (arm, base []float64)
}

const (
	typical = 10.0 // µs
	noise   = 0.01
	// expPseudoMedian is the median of the mean of two standard exponentials.
	expPseudoMedian = 0.8391734950083302
)

// Scenarios lists the shapes of noise that benchmarks meet.
func Scenarios() []Scenario {
	return []Scenario{
		{"normal", true, each(func(r *rand.Rand) float64 { return math.Exp(noise * r.NormFloat64()) })},
		{"skewed (lognormal)", true, each(func(r *rand.Rand) float64 { return 1 + noise*math.Exp(r.NormFloat64()) })},
		{"heavy tails (t3)", true, each(func(r *rand.Rand) float64 { return math.Exp(noise * t3(r)) })},
		{"disturbed (5 % of rounds)", true, each(func(r *rand.Rand) float64 {
			x := noise * r.NormFloat64()
			if r.Float64() < 0.05 {
				x += 10 * noise * r.ExpFloat64()
			}
			return math.Exp(x)
		})},
		{"two states", true, each(func(r *rand.Rand) float64 {
			return math.Exp(0.2*noise*r.NormFloat64() + 2*noise*float64(r.IntN(2)))
		})},
		{"only the arm skewed", true, oneSided},
		{"timer steps of 1 %", true, quantised},
		{"common drift (AR 0.9)", true, commonDrift},
		{"dependent rounds (AR 0.3)", false, dependent},
	}
}

// each gives both arms the same noise, so that the log-ratio is symmetric.
func each(factor func(*rand.Rand) float64) func(*rand.Rand, int, float64) ([]float64, []float64) {
	return func(rng *rand.Rand, rounds int, ratio float64) (arm, base []float64) {
		arm, base = make([]float64, rounds), make([]float64, rounds)
		for i := range arm {
			arm[i], base[i] = typical*ratio*factor(rng), typical*factor(rng)
		}
		return arm, base
	}
}

func t3(rng *rand.Rand) float64 {
	chi2 := 0.0
	for range 3 {
		z := rng.NormFloat64()
		chi2 += z * z
	}
	return rng.NormFloat64() / math.Sqrt(chi2/3)
}

func oneSided(rng *rand.Rand, rounds int, ratio float64) (arm, base []float64) {
	arm, base = make([]float64, rounds), make([]float64, rounds)
	for i := range arm {
		base[i] = typical * math.Exp(noise*rng.NormFloat64())
		arm[i] = base[i] * ratio * math.Exp(noise*(rng.ExpFloat64()-expPseudoMedian))
	}
	return arm, base
}

func quantised(rng *rand.Rand, rounds int, ratio float64) (arm, base []float64) {
	arm, base = each(func(r *rand.Rand) float64 { return math.Exp(noise * r.NormFloat64()) })(rng, rounds, ratio)
	step := noise * typical
	for i := range arm {
		arm[i], base[i] = step*math.Round(arm[i]/step), step*math.Round(base[i]/step)
	}
	return arm, base
}

// AR1 is a stationary autoregression of unit variance.
func AR1(rng *rand.Rand, n int, rho float64) []float64 {
	x := make([]float64, n)
	v := rng.NormFloat64()
	for i := range x {
		x[i] = v
		v = rho*v + math.Sqrt(1-rho*rho)*rng.NormFloat64()
	}
	return x
}

// commonDrift moves both arms together, by five times their own noise.
func commonDrift(rng *rand.Rand, rounds int, ratio float64) (arm, base []float64) {
	arm, base = make([]float64, rounds), make([]float64, rounds)
	for i, d := range AR1(rng, rounds, 0.9) {
		t := typical * math.Exp(5*noise*d)
		arm[i] = t * ratio * math.Exp(noise*rng.NormFloat64())
		base[i] = t * math.Exp(noise*rng.NormFloat64())
	}
	return arm, base
}

// dependent lets the log-ratio itself wander, which pairing cannot remove.
func dependent(rng *rand.Rand, rounds int, ratio float64) (arm, base []float64) {
	arm, base = make([]float64, rounds), make([]float64, rounds)
	for i, d := range AR1(rng, rounds, 0.3) {
		base[i] = typical * math.Exp(noise*rng.NormFloat64())
		arm[i] = base[i] * ratio * math.Exp(math.Sqrt2*noise*d)
	}
	return arm, base
}

// Samples is a shape of independent samples within one round, µs.
type Samples struct {
	Name string
	Draw func(rng *rand.Rand, n int) []float64
}

// Unremarkable lists shapes about which nothing is to be said.
func Unremarkable() []Samples {
	iid := func(one func(*rand.Rand) float64) func(*rand.Rand, int) []float64 {
		return func(rng *rand.Rand, n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = one(rng)
			}
			return x
		}
	}
	wide := 0.05 // relative, so that the size thresholds do not hide a false alarm
	return []Samples{
		{"normal", iid(func(r *rand.Rand) float64 { return typical * math.Exp(wide*r.NormFloat64()) })},
		{"exponential tail", iid(func(r *rand.Rand) float64 { return typical * (1 + wide*r.ExpFloat64()) })},
		{"uniform", iid(func(r *rand.Rand) float64 { return typical * (1 + wide*r.Float64()) })},
		{"heavy tails (t3)", iid(func(r *rand.Rand) float64 { return typical * math.Exp(wide*t3(r)/3) })},
		{"timer steps of 5 %", iid(func(r *rand.Rand) float64 {
			step := wide * typical
			return step * math.Round(typical*math.Exp(wide*r.NormFloat64())/step)
		})},
	}
}

// Remarkable lists shapes that each deserve the warning they are named for.
func Remarkable() []Samples {
	return []Samples{
		{"drift", func(rng *rand.Rand, n int) []float64 { // 5 % over the round
			x := make([]float64, n)
			for i := range x {
				x[i] = typical * (1 + 0.05*float64(i)/float64(n)) * math.Exp(noise*rng.NormFloat64())
			}
			return x
		}},
		{"autocorrelation", func(rng *rand.Rand, n int) []float64 {
			x := AR1(rng, n, 0.7)
			for i := range x {
				x[i] = typical * math.Exp(noise*x[i])
			}
			return x
		}},
		{"bimodal", func(rng *rand.Rand, n int) []float64 { // a third of them 6 % slower
			x := make([]float64, n)
			for i := range x {
				x[i] = typical * math.Exp(noise*rng.NormFloat64())
				if rng.IntN(3) == 0 {
					x[i] *= 1.06
				}
			}
			return x
		}},
	}
}
