package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestInspectQuietOnDegenerateSamples(t *testing.T) {
	rounding := repeated(1.7, 50) // one timer value divided by a count
	for i := range rounding {
		rounding[i] *= 1 + float64(i%3)*1e-16
	}
	for name, x := range map[string][]float64{
		"one":       {5},
		"few":       {1, 2, 3, 4, 5},
		"all equal": repeated(2.5, 500),
		"rounding":  rounding,
		"one wild":  append(repeated(10, 99), 1000),
	} {
		ws, err := Inspect(x, 0)
		if err != nil || len(ws) != 0 {
			t.Errorf("%s: %v, %v", name, ws, err)
		}
	}
}

// TestInspectMatter: what is significant but small is not worth a warning.
func TestInspectMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 1000)
	for i := range x {
		x[i] = 10 * (1 + 0.006*float64(i)/1000) * (1 + 0.001*rng.NormFloat64())
	}
	small, err := Inspect(x, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	large, err := Inspect(x, 0.002)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(codes(small), Drift) || !slices.Contains(codes(large), Drift) {
		t.Errorf("a drift of 0.6 %%: %v where 2 %% matter, %v where 0.2 %% do", small, large)
	}
}

func TestInspectNamesTheStates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 300)
	for i := range x {
		x[i] = 4 + 0.5*float64(rng.IntN(2)) + 0.032*float64(rng.IntN(3)-1) // 32 ns steps
	}
	ws, err := Inspect(x, 0)
	if err != nil || !slices.Equal(codes(ws), []Code{Bimodal}) {
		t.Fatalf("%v, %v", ws, err)
	}
	if want := "two states, near 4 and 4.5 (+12.5 %)"; ws[0].Detail != want {
		t.Errorf("%q, want %q", ws[0].Detail, want)
	}
}

// TestKendallCounts compares the merge count with the definition.
func TestKendallCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 9), func(i int) float64 { return float64(i) }), 0, 40).Draw(t, "x")
		want := 0
		for i := range x {
			for j := range x[:i] {
				if x[j] > x[i] {
					want++
				}
			}
		}
		s := slices.Clone(x)
		if got := countInversions(s, make([]float64, len(x))); got != want {
			t.Fatalf("%d inversions, want %d", got, want)
		}
		if !slices.IsSorted(s) {
			t.Fatal("not sorted")
		}
	})
}

// TestDipBounds: the dip lies in [1/2n, 1/4] and does not change when the samples
// are moved, stretched or mirrored.
func TestDipBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(-50, 50), func(i int) float64 { return float64(i) }), 2, 60).Draw(t, "x")
		slices.Sort(x)
		d := dip(x)
		if n := float64(len(x)); d < 1/(2*n)-1e-12 || d > 0.25+1e-12 {
			t.Fatalf("dip %v of %v values", d, n)
		}
		mirrored := make([]float64, len(x))
		for i, v := range x {
			mirrored[len(x)-1-i] = 100 - 8*v
		}
		if m := dip(mirrored); math.Abs(m-d) > 1e-9 {
			t.Fatalf("dip %v, mirrored %v", d, m)
		}
	})
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		interval, step, overhead float64
		want                     bool
	}{
		{100, 0.5, 5, false}, {10, 0.5, 0, true}, {100, 0, 20, true}, {5, 0, 0, false}, {3, 0, 30, true},
	} {
		if w, ok := NearResolution(tt.interval, tt.step, tt.overhead); ok != tt.want || ok != (w.Code == TimerLimited) {
			t.Errorf("NearResolution(%v, %v, %v) = %v, %v", tt.interval, tt.step, tt.overhead, w, ok)
		}
	}
	for _, tt := range []struct {
		median, floor float64
		want          bool
	}{{31, 32, true}, {31.9, 32, false}, {40, 32, false}, {1, 0, false}} {
		if w, ok := BelowFloor(tt.median, tt.floor); ok != tt.want || ok != w.Fatal() {
			t.Errorf("BelowFloor(%v, %v) = %v, %v", tt.median, tt.floor, w, ok)
		}
	}
	s := Summary{Median: 10, P5: 9.9, P95: 10.2} // a spread of 3 %
	for ratio, want := range map[float64]bool{1: false, 0.98: true, 1.02: true, 0.9: false, 1.1: false} {
		if w, ok := SpreadExceeds(s, ratio); ok != want || ok != (w.Code == WideSpread) {
			t.Errorf("SpreadExceeds at %v = %v, %v", ratio, w, ok)
		}
	}
}

func TestClocks(t *testing.T) {
	for name, tt := range map[string]struct {
		c    Clocks
		want int
	}{
		"nothing":              {Clocks{}, 0},
		"a normal kernel":      {Clocks{Kernel: 12, Graph: 12.8, Batch: 13, Span: 29, Latency: 45}, 0},
		"tiny, within 1 µs":    {Clocks{Kernel: 2.1, Graph: 1.3}, 0},
		"kernel over graph":    {Clocks{Kernel: 20, Graph: 12.8}, 1},
		"slowed by tracing":    {Clocks{Kernel: 243, Graph: 223, Batch: 225, Span: 228, Latency: 233}, 3},
		"latency under kernel": {Clocks{Kernel: 100, Latency: 40}, 1},
		"latency under all":    {Clocks{Kernel: 100, Graph: 100, Batch: 100, Span: 100, Latency: 10}, 4},
	} {
		ws := tt.c.Check()
		if len(ws) != tt.want {
			t.Errorf("%s: %v, want %d warnings", name, ws, tt.want)
		}
		for _, w := range ws {
			if w.Code != ClockMismatch || w.Fatal() {
				t.Errorf("%s: %v", name, w)
			}
		}
	}
}
