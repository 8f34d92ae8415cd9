package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHolmProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOf(rapid.Float64Range(0, 1)).Draw(t, "p")
		before := slices.Clone(p)
		adjusted, err := Holm(p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p, before) || len(adjusted) != len(p) {
			t.Fatal("the argument changed, or the length")
		}
		for i := range p {
			// Between no correction and Bonferroni's, in the order of p.
			if adjusted[i] < p[i] || adjusted[i] > math.Min(1, float64(len(p))*p[i]) {
				t.Fatalf("%v became %v of %d", p[i], adjusted[i], len(p))
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Fatalf("order of %v and %v", p[i], p[j])
				}
			}
		}
	})
}

func TestDecideTable(t *testing.T) {
	wobble := []float64{1.004, 0.997, 1.001, 0.995, 1.003, 0.999, 1.002, 0.998}
	base := repeated(10, len(wobble))
	one := mustPaired(t, scaled(wobble, 9.75), base, Options{Margin: 0.02})
	if one.Verdict != Faster {
		t.Fatalf("alone: %s", one.Verdict)
	}
	alone, err := DecideTable([]Comparison{one}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if alone[0].Verdict != Faster || alone[0].Interval != one.Interval || alone[0].P != one.P() {
		t.Errorf("a table of one: %+v, want what the comparison says: %+v", alone[0], one)
	}
	many, err := DecideTable(slices.Repeat([]Comparison{one}, 200), 0.05)
	if err != nil {
		t.Fatal(err)
	}
	r := many[199]
	if r.Verdict != Undecided || r.P <= 0.05 || r.Interval.Confidence != 1-0.05/200 {
		t.Errorf("in a table of 200: %+v", r)
	}
	// 2⁻⁷ is more than 0.05/200.
	if !slices.Equal(codes(r.Warnings), []Code{FewRounds}) {
		t.Errorf("warnings %v", r.Warnings)
	}
	if none, err := DecideTable(nil, 0.05); err != nil || len(none) != 0 {
		t.Errorf("an empty table: %v, %v", none, err)
	}
}

func TestResolution(t *testing.T) {
	twin := []float64{10.01, 9.99, 10.02, 9.98, 10, 10.005, 9.995, 10.015}
	same := scaled([]float64{1.001, 0.999, 1.002, 0.998, 1, 1.0005, 0.9995, 1.0002}, 10)
	r, err := NewResolution(same, twin, 0, Options{Margin: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if r.FalsePositives != 0 || r.P != 1 || len(r.Warnings) != 0 {
		t.Errorf("a quiet control: %+v", r)
	}
	near(t, "effect", r.Effect, math.Max(r.Interval.Hi, 1/r.Interval.Lo)-1, 1e-15)
	if r.Effect <= 0 || r.Effect > 0.01 {
		t.Errorf("effect %v for a noise of 0.1 %%", r.Effect)
	}
	floored, err := NewResolution(repeated(10, 8), repeated(10, 8), TimerFloor(0.5, 10, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "floor of equal readings", floored.Effect, 0.05, 1e-15)

	off, err := NewResolution(scaled(twin, 1.1), twin, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if off.FalsePositives != 1 || !slices.Contains(codes(off.Warnings), ControlDiffers) {
		t.Errorf("a control that differs by 10 %%: %+v", off)
	}
	near(t, "p of one in one", off.P, 0.05, 1e-12)

	pool := PoolResolutions([]Resolution{r, off, r, r, r, r, r, r, r, r})
	if pool.Cells != 10 || pool.FalsePositives != 1 || pool.Effect != off.Effect || len(pool.Warnings) != 0 {
		t.Errorf("one of ten is no surprise: %+v", pool)
	}
	near(t, "p of one in ten", pool.P, 1-math.Pow(0.95, 10), 1e-12)
	bad := PoolResolutions([]Resolution{off, off, off, r, r})
	if !slices.Equal(codes(bad.Warnings), []Code{ControlDiffers}) {
		t.Errorf("three of five are: %+v", bad)
	}
	if zero := PoolResolutions(nil); zero.Cells != 0 {
		t.Errorf("no cells: %+v", zero)
	}
}

func TestSequential(t *testing.T) {
	wobble := []float64{1.004, 0.997, 1.001, 0.995, 1.003, 0.999, 1.002, 0.998, 1.001, 0.999, 1.002, 0.997}
	base := repeated(10, len(wobble))
	at := func(rounds int, ratio float64) Comparison {
		return mustPaired(t, scaled(wobble[:rounds], 10*ratio), base[:rounds], Options{Margin: 0.02})
	}
	rule, err := NewSequential(SequentialOptions{MinRounds: 6, MaxRounds: 11, LookEvery: 2, Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := rule.looks(); !slices.Equal(got, []int{6, 8, 10, 11}) {
		t.Errorf("looks at %v", got)
	}
	// Between Bonferroni over the looks and no correction.
	if c := 1 - rule.Confidence(); c <= 0.05/2/4 || c >= 0.05/2 {
		t.Errorf("level %v", c)
	}

	look, err := rule.Look(6, at(6, 0.5), at(6, 0.5))
	if err != nil || !look.Stop || look.Open != 0 || look.Rows[0].Verdict != Faster {
		t.Errorf("twice as fast: %+v, %v", look, err)
	}
	look, err = rule.Look(6, at(6, 0.5), at(6, 0.981))
	if err != nil || look.Stop || look.Open != 1 {
		t.Errorf("one on the edge: %+v, %v", look, err)
	}
	look, err = rule.Look(7, at(7, 0.5), at(7, 0.5))
	if err != nil || look.Stop || look.Rows != nil {
		t.Errorf("an unplanned look: %+v, %v", look, err)
	}
	look, err = rule.Look(11, at(11, 0.981))
	if err != nil || !look.Stop || look.Open != 1 {
		t.Errorf("the budget: %+v, %v", look, err)
	}
	if look, err := rule.Look(8, at(6, 0.5)); err != nil || !look.Stop {
		t.Errorf("two of eight rounds were disturbed: %+v, %v", look, err)
	}
	if _, err := rule.Look(6, at(8, 0.5)); err == nil {
		t.Error("eight rounds were judged at round 6")
	}
	if _, err := rule.Look(6, at(6, 1), at(6, 1), at(6, 1)); err == nil {
		t.Error("three rows were judged by a rule for two")
	}
	if _, err := NewSequential(SequentialOptions{MinRounds: 5, MaxRounds: 1000, LookEvery: 1}); err == nil {
		t.Error("a thousand looks were accepted")
	}
	for maxRounds, every := range map[int]int{5: 1, 204: 1, 205: 2, 402: 2, 403: 2, 404: 3, MaxRounds: 5} {
		rule, err := NewSequential(SequentialOptions{MinRounds: 5, MaxRounds: maxRounds})
		if err != nil || rule.o.LookEvery != every {
			t.Errorf("up to %d rounds: a look every %d, want %d; %v", maxRounds, rule.o.LookEvery, every, err)
		}
	}
}
