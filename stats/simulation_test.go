package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mage/stats"
	"mage/stats/internal/truth"
)

// The tests of this file check promises by simulation. Seeds are fixed. The
// allowances are 3.5 standard errors of the simulation, and each test shows that
// it can fail: the uncorrected method exceeds the same limit (not in short mode,
// whose limits are wider). Larger runs are in
// docs/statistics.md.

// atMost returns the largest share of n experiments that a probability of p
// explains.
func atMost(p float64, n int) float64 { return p + 3.5*math.Sqrt(p*(1-p)/float64(n)) }

func repeats(full int) int {
	if testing.Short() {
		return full / 4
	}
	return full
}

func compare(t *testing.T, arm, base []float64, o stats.Options) stats.Comparison {
	t.Helper()
	c, err := stats.Paired(arm, base, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	n := repeats(600)
	textbookFails := false
	for k, s := range truth.Scenarios() {
		if !s.Independent {
			continue // the study shows what it costs
		}
		for _, rounds := range []int{5, 8, 20} {
			rng := rand.New(rand.NewPCG(uint64(k), uint64(rounds)))
			missed, missedFar, missedBCa := 0.0, 0.0, 0.0
			for i := range n {
				arm, base := s.Draw(rng, rounds, 0.97)
				c := compare(t, arm, base, stats.Options{Resamples: 200, Seed: uint64(i)})
				if !c.Interval.Contains(0.97) {
					missed++
				}
				if !c.At(0.99).Contains(0.97) {
					missedFar++
				}
				if !c.BCa.Contains(0.97) {
					missedBCa++
				}
			}
			limit := atMost(0.05, n)
			if share := missed / float64(n); share > limit {
				t.Errorf("%s, %d rounds: the 95 %% interval misses %.3f", s.Name, rounds, share)
			}
			// 1.8 % instead of 1 % is what docs/statistics.md admits for one skewed arm.
			if share := missedFar / float64(n); share > atMost(0.018, n) {
				t.Errorf("%s, %d rounds: the 99 %% interval misses %.3f", s.Name, rounds, share)
			}
			textbookFails = textbookFails || missedBCa/float64(n) > limit
		}
	}
	if !textbookFails && !testing.Short() {
		t.Error("plain BCa passes as well: the test has no power")
	}
}

// TestFalseVerdicts: at the edge of the margin, and without a margin at 1, at
// most the stated error is claimed falsely.
func TestFalseVerdicts(t *testing.T) {
	t.Parallel()
	n := repeats(600)
	const margin = 0.02
	for k, s := range truth.Scenarios() {
		if !s.Independent {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(50+k), 0))
		edge, same, outside := 0.0, 0.0, 0.0
		for i := range n {
			o := stats.Options{Margin: margin, Resamples: 200, Seed: uint64(i)}
			arm, base := s.Draw(rng, 10, 1/(1+margin))
			if v := compare(t, arm, base, o).Verdict; v == stats.Faster || v == stats.Slower {
				edge++
			}
			arm, base = s.Draw(rng, 10, 1.0001*(1+margin))
			if v := compare(t, arm, base, o).Verdict; v == stats.Faster || v == stats.Equivalent {
				outside++
			}
			o.Margin = 0
			arm, base = s.Draw(rng, 10, 1)
			if compare(t, arm, base, o).Verdict != stats.Undecided {
				same++
			}
		}
		for what, count := range map[string]float64{"on the edge": edge, "just outside": outside} {
			if share := count / float64(n); share > atMost(0.03, n) { // one-sided
				t.Errorf("%s: %.3f false verdicts %s", s.Name, share, what)
			}
		}
		if share := same / float64(n); share > atMost(0.05, n) {
			t.Errorf("%s: %.3f differences in an A/A comparison", s.Name, share)
		}
	}
}

func TestTableError(t *testing.T) {
	t.Parallel()
	const rows, rounds, margin, alpha = 20, 12, 0.02, 0.05
	n := repeats(240)
	rng := rand.New(rand.NewPCG(60, 0))
	s := truth.Scenarios()[0]
	corrected, plain, decided := 0.0, 0.0, 0
	for i := range n {
		_, base := s.Draw(rng, rounds, 1) // shared by all rows
		cs := make([]stats.Comparison, rows)
		anyPlain := false
		for r := range cs {
			ratio := 1 / (1 + margin)
			if r%2 == 0 {
				ratio = 0.5
			}
			arm, _ := s.Draw(rng, rounds, ratio)
			cs[r] = compare(t, arm, base, stats.Options{Margin: margin, Resamples: 200, Seed: uint64(i)})
			anyPlain = anyPlain || r%2 == 1 && cs[r].Verdict == stats.Faster
		}
		judged, err := stats.DecideTable(cs, alpha)
		if err != nil {
			t.Fatal(err)
		}
		anyFalse := false
		for r, j := range judged {
			anyFalse = anyFalse || r%2 == 1 && j.Verdict == stats.Faster || r%2 == 0 && j.Verdict != stats.Faster && j.Verdict != stats.Undecided
			if r%2 == 0 && j.Verdict == stats.Faster {
				decided++
			}
		}
		if anyFalse {
			corrected++
		}
		if anyPlain {
			plain++
		}
	}
	limit := atMost(alpha, n)
	if share := corrected / float64(n); share > limit {
		t.Errorf("%.3f of the tables hold a false verdict", share)
	}
	if decided != n*rows/2 {
		t.Errorf("%d of %d obvious rows decided", decided, n*rows/2)
	}
	if share := plain / float64(n); share <= limit && !testing.Short() {
		t.Errorf("without the correction %.3f: the test has no power", share)
	}
}

func TestSequentialError(t *testing.T) {
	t.Parallel()
	const least, most = 5, 30
	n := repeats(240)
	rule, err := stats.NewSequential(stats.SequentialOptions{MinRounds: least, MaxRounds: most})
	if err != nil {
		t.Fatal(err)
	}
	limit := atMost(0.05, n)
	for _, k := range []int{0, 2} { // normal, heavy tails
		s := truth.Scenarios()[k]
		rng := rand.New(rand.NewPCG(70, uint64(k)))
		wrong, naive := 0.0, 0.0
		for i := range n {
			arm, base := s.Draw(rng, most, 1)
			peeked := false
			for r := least; ; r++ {
				c := compare(t, arm[:r], base[:r], stats.Options{Resamples: 100, Seed: uint64(i)})
				peeked = peeked || c.Verdict != stats.Undecided
				look, err := rule.Look(r, c)
				if err != nil {
					t.Fatal(err)
				}
				if look.Stop {
					if look.Open == 0 {
						wrong++
					}
					break
				}
			}
			if peeked {
				naive++
			}
		}
		if share := wrong / float64(n); share > limit {
			t.Errorf("%s: %.3f differences claimed between equals", s.Name, share)
		}
		if share := naive / float64(n); share <= limit && !testing.Short() {
			t.Errorf("%s: looking without the rule %.3f: the test has no power", s.Name, share)
		}
	}
}

func TestWarningsByName(t *testing.T) {
	t.Parallel()
	n := repeats(2000)
	count := func(s truth.Samples, size int) map[stats.Code]float64 {
		rng := rand.New(rand.NewPCG(80, uint64(size)))
		share := map[stats.Code]float64{}
		for range n {
			ws, err := stats.Inspect(s.Draw(rng, size), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ws {
				share[w.Code] += 1 / float64(n)
			}
		}
		return share
	}
	for _, s := range truth.Unremarkable() {
		for _, size := range []int{20, 100} {
			for code, share := range count(s, size) {
				if share > atMost(0.002, n) {
					t.Errorf("%s, %d samples: %s on %.4f of them", s.Name, size, code, share)
				}
			}
		}
	}
	for _, s := range truth.Remarkable() {
		if share := count(s, 200)[stats.Code(s.Name)]; share < 0.9 {
			t.Errorf("%s is noticed in %.2f of the sets", s.Name, share)
		}
	}
}

func TestDependentRounds(t *testing.T) {
	t.Parallel()
	n := repeats(800)
	noticed := func(rho float64) float64 {
		rng := rand.New(rand.NewPCG(90, 1))
		k := 0.0
		for range n {
			d := truth.AR1(rng, 30, rho)
			arm, base := make([]float64, 30), make([]float64, 30)
			for i := range d {
				arm[i], base[i] = math.Exp(0.01*d[i]), 1
			}
			c := compare(t, arm, base, stats.Options{Resamples: 100})
			if slices.ContainsFunc(c.Warnings, func(w stats.Warning) bool { return w.Code == stats.DependentRounds }) {
				k++
			}
		}
		return k / float64(n)
	}
	if share := noticed(0); share > atMost(0.01, n) {
		t.Errorf("%.3f of independent rounds get the warning", share)
	}
	if share := noticed(0.8); share < 0.8 {
		t.Errorf("a correlation of 0.8 is noticed in %.2f of the runs", share)
	}
}
