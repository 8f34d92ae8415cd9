package stats

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func mustPaired(t testing.TB, arm, base []float64, o Options) Comparison {
	t.Helper()
	c, err := Paired(arm, base, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func codes(ws []Warning) []Code {
	var cs []Code
	for _, w := range ws {
		cs = append(cs, w.Code)
	}
	return cs
}

func scaled(xs []float64, by float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = x * by
	}
	return out
}

func repeated(x float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

func TestPairedRejectsBadInput(t *testing.T) {
	ok := []float64{1, 2, 3, 4, 5}
	for name, f := range map[string]func() error{
		"nothing":           func() error { _, err := Paired(nil, nil, Options{}); return err },
		"unequal":           func() error { _, err := Paired(ok, ok[:4], Options{}); return err },
		"NaN":               func() error { _, err := Paired(ok, []float64{1, 2, math.NaN(), 4, 5}, Options{}); return err },
		"infinite":          func() error { _, err := Paired([]float64{1, 2, math.Inf(1), 4, 5}, ok, Options{}); return err },
		"zero":              func() error { _, err := Paired([]float64{0, 2, 3, 4, 5}, ok, Options{}); return err },
		"negative":          func() error { _, err := Paired(ok, []float64{-1, 2, 3, 4, 5}, Options{}); return err },
		"margin":            func() error { _, err := Paired(ok, ok, Options{Margin: -0.1}); return err },
		"NaN margin":        func() error { _, err := Paired(ok, ok, Options{Margin: math.NaN()}); return err },
		"confidence":        func() error { _, err := Paired(ok, ok, Options{Confidence: 1}); return err },
		"resamples":         func() error { _, err := Paired(ok, ok, Options{Resamples: 5}); return err },
		"too many":          func() error { x := repeated(1, MaxRounds+1); _, err := Paired(x, x, Options{}); return err },
		"summary NaN":       func() error { _, err := Summarize([]float64{1, math.NaN()}, 0.95); return err },
		"summary nothing":   func() error { _, err := Summarize(nil, 0.95); return err },
		"inspect NaN":       func() error { _, err := Inspect([]float64{1, math.NaN()}, 0); return err },
		"p-value":           func() error { _, err := Holm([]float64{0.5, math.NaN()}); return err },
		"resolution floor":  func() error { _, err := NewResolution(ok, ok, math.NaN(), Options{}); return err },
		"table alpha":       func() error { _, err := DecideTable(nil, 0); return err },
		"first look early":  func() error { _, err := NewSequential(SequentialOptions{MinRounds: 2, MaxRounds: 9}); return err },
		"last before first": func() error { _, err := NewSequential(SequentialOptions{MinRounds: 9, MaxRounds: 8}); return err },
	} {
		if err := f(); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v, want ErrInput", name, err)
		}
	}
}

func TestPairedVerdicts(t *testing.T) {
	// Base × ratio is exact, so the noise is that of the golden pair alone.
	noise := []float64{1.001, 0.999, 1.002, 0.998, 1, 1.0005, 0.9995, 1.0015, 0.9985, 1.0002}
	base := repeated(10, len(noise))
	for _, tt := range []struct {
		ratio, margin, resolution float64
		want                      Verdict
	}{
		{0.9, 0.02, 0, Faster},
		{1.1, 0.02, 0, Slower},
		{1, 0.02, 0, Equivalent},
		{1.01, 0.02, 0, Equivalent},
		{1.02, 0.02, 0, Undecided},
		{0.999, 0, 0, Undecided},
		{0.9, 0, 0, Faster},
		{0.97, 0.02, 0.1, Equivalent}, // outside the margin, below the resolution
	} {
		c := mustPaired(t, scaled(noise, 10*tt.ratio), base, Options{Margin: tt.margin, Resolution: tt.resolution})
		if c.Verdict != tt.want {
			t.Errorf("ratio %v, margin %v, resolution %v: %s, want %s (%+v)", tt.ratio, tt.margin, tt.resolution, c.Verdict, tt.want, c.Interval)
		}
		if got := slices.Contains(codes(c.Warnings), BelowResolution); got != (tt.resolution > 0) {
			t.Errorf("ratio %v, resolution %v: warnings %v", tt.ratio, tt.resolution, c.Warnings)
		}
	}
}

func TestPairedFewRounds(t *testing.T) {
	for n := 1; n <= 6; n++ {
		arm := []float64{9, 9.01, 8.99, 9.02, 8.98, 9.005}[:n]
		c := mustPaired(t, arm, repeated(10, n), Options{})
		want := Faster
		if n < VerdictRounds {
			want = Undecided
		}
		if c.Verdict != want {
			t.Errorf("%d rounds: %s, want %s", n, c.Verdict, want)
		}
		if got := slices.Contains(codes(c.Warnings), FewRounds); got != (n < 6) {
			t.Errorf("%d rounds: warnings %v", n, c.Warnings)
		}
		if !c.Interval.Contains(c.Ratio) {
			t.Errorf("%d rounds: %v outside %+v", n, c.Ratio, c.Interval)
		}
	}
}

func TestPairedWithoutSpread(t *testing.T) {
	same := mustPaired(t, repeated(3, 8), repeated(3, 8), Options{Margin: 0.01})
	if same.Ratio != 1 || same.Verdict != Equivalent || same.SignedRank.TwoSided != 1 {
		t.Errorf("equal times: %+v", same)
	}
	other := mustPaired(t, repeated(3.5, 8), repeated(3, 8), Options{Margin: 0.01, Resolution: 0.2})
	if other.Verdict != Equivalent {
		t.Errorf("one timer step apart: %s, want equivalent within the resolution", other.Verdict)
	}
	for _, c := range []Comparison{same, other} {
		if !slices.Contains(codes(c.Warnings), NoSpread) {
			t.Errorf("no warning about the spread: %v", c.Warnings)
		}
	}
}

// TestPairedIgnoresCommonDrift: whatever multiplies both arms of a round alike
// must not change the answer.
func TestPairedIgnoresCommonDrift(t *testing.T) {
	arm, base := slices.Clone(goldenArm), slices.Clone(goldenBase)
	want := mustPaired(t, arm, base, Options{})
	for i := range arm {
		f := 1 + 0.7*float64(i%5)
		arm[i], base[i] = arm[i]*f, base[i]*f
	}
	got := mustPaired(t, arm, base, Options{})
	near(t, "ratio", got.Ratio, want.Ratio, 1e-12)
	near(t, "lower end", got.Interval.Lo, want.Interval.Lo, 1e-12)
	near(t, "upper end", got.Interval.Hi, want.Interval.Hi, 1e-12)
}

func drawTimes(t *rapid.T) (arm, base []float64) {
	n := rapid.IntRange(1, 25).Draw(t, "rounds")
	step := rapid.SampledFrom([]float64{0, 0.5, 0.032}).Draw(t, "timer step")
	one := rapid.Custom(func(t *rapid.T) float64 {
		v := rapid.Float64Range(1, 20).Draw(t, "µs")
		if step > 0 {
			v = step * math.Max(1, math.Round(v/step))
		}
		return v
	})
	return rapid.SliceOfN(one, n, n).Draw(t, "arm"), rapid.SliceOfN(one, n, n).Draw(t, "base")
}

func TestPairedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arm, base := drawTimes(t)
		o := Options{Margin: rapid.SampledFrom([]float64{0, 0.02, 0.3}).Draw(t, "margin"), Resamples: 200, Seed: 7}
		c, err := Paired(arm, base, o)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Paired(arm, base, o); again.Interval != c.Interval {
			t.Fatal("the same seed gave another interval")
		}
		if !(c.Interval.Lo <= c.Ratio*(1+1e-12) && c.Ratio <= c.Interval.Hi*(1+1e-12)) || math.IsNaN(c.BCa.Lo) || math.IsNaN(c.BCa.Hi) {
			t.Fatalf("ratio %v, interval %+v, BCa %+v", c.Ratio, c.Interval, c.BCa)
		}
		for _, p := range []float64{c.PFaster, c.PSlower, c.PEquivalent, c.P(), c.SignedRank.TwoSided} {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("p-values of %+v", c)
			}
		}
		// More confidence, wider interval.
		wide := c.At(0.999)
		if wide.Lo > c.Interval.Lo || wide.Hi < c.Interval.Hi {
			t.Fatalf("%+v does not hold %+v", wide, c.Interval)
		}
		// The p-value of the leading claim and the interval tell the same story.
		for _, confidence := range []float64{0.8, 0.95, 0.999} {
			alpha := 1 - confidence
			i := c.At(confidence)
			edge := 1 + c.Margin
			if onEdge(i.Lo, edge) || onEdge(i.Hi, edge) || onEdge(i.Lo, 1/edge) || onEdge(i.Hi, 1/edge) {
				continue // rounding decides
			}
			decided := c.VerdictAt(confidence) != Undecided
			if p := c.P(); p < alpha*0.98 && !decided || p > alpha*1.02 && decided {
				t.Fatalf("p = %v, but decided at %v is %v: %+v", p, confidence, decided, i)
			}
		}
	})
}

func onEdge(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// Two differences that are equal but for rounding are counted against the
// estimate in the same way from both sides.
func TestPairedIsReciprocalNearTies(t *testing.T) {
	arm, base := []float64{1, 20, 2}, []float64{1.0625, 14.999999999999998, 1.5}
	c, r := mustPaired(t, arm, base, Options{Margin: 0.02}), mustPaired(t, base, arm, Options{Margin: 0.02})
	near(t, "p of faster against slower", r.PFaster, c.PSlower, 1e-12)
	near(t, "p of slower against faster", r.PSlower, c.PFaster, 1e-12)
	near(t, "ratio", r.Ratio, 1/c.Ratio, 1e-12)
}

// TestPairedIsReciprocal: exchanging the arms must turn the answer round.
func TestPairedIsReciprocal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arm, base := drawTimes(t)
		o := Options{Margin: 0.02, Resamples: 200}
		c, err := Paired(arm, base, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Paired(base, arm, o)
		if err != nil {
			t.Fatal(err)
		}
		close := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*math.Abs(b) }
		if !close(r.Ratio, 1/c.Ratio) || !close(r.Interval.Lo, 1/c.Interval.Hi) || !close(r.Interval.Hi, 1/c.Interval.Lo) {
			t.Fatalf("%v %+v against %v %+v", r.Ratio, r.Interval, c.Ratio, c.Interval)
		}
		if math.Abs(r.PFaster-c.PSlower) > 1e-9 || math.Abs(r.PEquivalent-c.PEquivalent) > 1e-9 {
			t.Fatalf("p-values %v %v against %v %v", r.PFaster, r.PEquivalent, c.PSlower, c.PEquivalent)
		}
	})
}
