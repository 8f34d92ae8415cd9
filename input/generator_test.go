package input

import (
	"math"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The known answers of Random123, the authors' own implementation.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox(c.ctr, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.ctr, c.key, got, c.want)
		}
	}
}

func TestStreamNames(t *testing.T) {
	for _, name := range []string{"", "ninebytes"} {
		if _, err := newStream(1, name); err == nil {
			t.Errorf("stream name %q was accepted", name)
		}
	}
}

// Names, seeds and halves of a seed must all separate streams.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, name := range []string{"a", "b", "c", "rows", "indices", "ranks", "pick"} {
		for _, seed := range []uint64{0, 1, 2, 1 << 32, math.MaxUint64} {
			s, err := newStream(seed, name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(64) {
				d := s.draw(i)
				if other, ok := seen[d]; ok {
					t.Fatalf("stream %s, seed %d repeats a draw of %s", name, seed, other)
				}
				seen[d] = name
			}
		}
	}
}

func TestBelowIsUniform(t *testing.T) {
	s, _ := newStream(DefaultSeed, "rows")
	const n, draws = 10, 100_000
	var observed, expected [n]float64
	for i := range uint64(draws) {
		observed[s.below(i, n)]++
	}
	for i := range expected {
		expected[i] = draws / n
	}
	// χ² with 9 degrees of freedom exceeds 27.88 with probability 0.001.
	if x := stat.ChiSquare(observed[:], expected[:]); x > 27.88 {
		t.Errorf("χ² = %.1f over %v", x, observed)
	}
}

func TestLogarithm(t *testing.T) {
	s, _ := newStream(1, "log")
	worst := 0.0
	for i := range uint64(200_000) {
		x := float64(s.draw(i)>>12<<1|1) * 0x1p-53
		got, want := logarithm(x), math.Log(x)
		worst = max(worst, math.Abs(got-want)/math.Abs(want))
	}
	if worst > 6e-16 {
		t.Errorf("relative error %.3g, want at most 6e-16", worst)
	}
	for _, x := range []float64{0x1p-53, 0x1p-52, 0.075, 0.5, math.Sqrt2 / 2, 1} {
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 6e-16*math.Abs(want) {
			t.Errorf("logarithm(%g) = %v, want %v", x, got, want)
		}
	}
}

// The quantile is compared with the error function, which it does not use.
func TestQuantileInvertsTheDistribution(t *testing.T) {
	check := func(p float64) {
		x := quantile(p)
		back, tail := 0.5*math.Erfc(-x/math.Sqrt2), p
		if p > 0.5 {
			back, tail = 0.5*math.Erfc(x/math.Sqrt2), 1-p
		}
		// A relative error of x is one of the tail about x² times as large.
		if math.Abs(back-tail) > 2e-15*(1+x*x)*tail {
			t.Errorf("quantile(%g) = %v gives back a tail of %g, want %g", p, x, back, tail)
		}
	}
	for e := 1; e <= 53; e++ {
		check(math.Ldexp(1, -e))
		check(1 - math.Ldexp(1, -e))
	}
	for i := 1; i < 5000; i++ {
		check(float64(i) / 5000)
	}
	if q := quantile(0.5); q != 0 {
		t.Errorf("the median is %v", q)
	}
}

func TestQuantileIsOddAndMonotone(t *testing.T) {
	last := math.Inf(-1)
	for k := uint64(1); k < 1<<53; k += 1<<53/40_000 | 1<<3 {
		p := float64(k|1) * 0x1p-53
		x := quantile(p)
		if x < last {
			t.Fatalf("quantile falls from %v to %v at p = %v", last, x, p)
		}
		if y := quantile(1 - p); y != -x {
			t.Fatalf("quantile(1−%v) = %v, want %v", p, y, -x)
		}
		last = x
	}
}

// The extremes of a draw must stay inside the support.
func TestNormalExtremes(t *testing.T) {
	lo, hi := normal(0), normal(math.MaxUint64)
	if lo != -hi || lo > -8.2 || lo < -8.3 {
		t.Errorf("extremes %v and %v, want about ∓8.21", lo, hi)
	}
}

// Moments and the Kolmogorov–Smirnov distance, each at the 0.001 level. The
// sample is fixed, so the test cannot be flaky: it can only be wrong.
func TestNormalMoments(t *testing.T) {
	for _, seed := range []uint64{DefaultSeed, 0, 1, 1 << 63} {
		s, _ := newStream(seed, "a")
		const n = 400_000
		x := make([]float64, n)
		for i := range x {
			x[i] = normal(s.draw(uint64(i)))
		}
		const z = 3.29 // two-sided 0.001
		root := math.Sqrt(n)
		mean, variance := stat.MeanVariance(x, nil)
		if math.Abs(mean) > z/root {
			t.Errorf("seed %d: mean %v", seed, mean)
		}
		if math.Abs(variance-1) > z*math.Sqrt2/root {
			t.Errorf("seed %d: variance %v", seed, variance)
		}
		if skew := stat.Skew(x, nil); math.Abs(skew) > z*math.Sqrt(6)/root {
			t.Errorf("seed %d: skewness %v", seed, skew)
		}
		if kurtosis := stat.ExKurtosis(x, nil); math.Abs(kurtosis) > z*math.Sqrt(24)/root {
			t.Errorf("seed %d: excess kurtosis %v", seed, kurtosis)
		}
		if r := stat.Correlation(x[:n-1], x[1:], nil); math.Abs(r) > z/root {
			t.Errorf("seed %d: correlation of neighbours %v", seed, r)
		}
		sort.Float64s(x)
		distance := 0.0
		for i, v := range x {
			p := distuv.UnitNormal.CDF(v)
			distance = max(distance, p-float64(i)/n, float64(i+1)/n-p)
		}
		if distance > 1.95/root {
			t.Errorf("seed %d: Kolmogorov–Smirnov distance %v, critical value %v", seed, distance, 1.95/root)
		}
	}
}

func BenchmarkNormal(b *testing.B) {
	s, _ := newStream(1, "a")
	sum := 0.0
	for i := 0; b.Loop(); i++ {
		d0, d1 := s.pair(uint64(i))
		sum += normal(d0) + normal(d1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/element")
	_ = sum
}
