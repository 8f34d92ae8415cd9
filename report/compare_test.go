package report_test

import (
	"errors"
	"strings"
	"testing"

	"mage/report"
	"mage/report/internal/synthetic"
)

func TestCompareArms(t *testing.T) {
	for _, c := range []struct {
		ratio      float64
		want       report.Verdict
		regression bool
	}{{1.1, report.Slower, true}, {1, report.Equivalent, false}, {0.9, report.Faster, false}} {
		got, err := report.CompareArms(duel(c.ratio, nil).Run(), "cuda/first", "cuda/vector@driver", report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) != 1 || got.Rows[0].Verdict != c.want || got.Regression != c.regression || got.AcrossSessions {
			t.Errorf("true ratio %g: %+v", c.ratio, got)
		}
		if r := got.Rows[0]; !(*r.Low <= c.ratio && c.ratio <= *r.High) {
			t.Errorf("true ratio %g outside of [%g, %g]", c.ratio, *r.Low, *r.High)
		}
	}
	// A wider margin forgives.
	got, err := report.CompareArms(duel(1.1, nil).Run(), "cuda/first", "cuda/vector", report.Options{Margin: 0.15})
	if err != nil || got.Regression {
		t.Errorf("10 %% slower within a margin of 15 %%: %v, %+v", err, got)
	}
}

func TestCompareArmsOfOtherInstruments(t *testing.T) {
	s := duel(3, func(_ *synthetic.Builder, c *synthetic.Cell) { c.Instrument = "host-clock" })
	got, err := report.CompareArms(s.Run(), "cuda/first", "cuda/vector", report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := got.Rows[0]
	if r.Verdict != report.NotComparable || r.AUS == nil || r.BUS == nil || r.Ratio != nil || got.Regression || got.Compared != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCompareUnknownArm(t *testing.T) {
	_, err := report.CompareArms(duel(1, nil).Run(), "cuda/first", "cuda/frist", report.Options{})
	var unknown *report.UnknownArmError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "cuda/vector@driver") {
		t.Errorf("error %v, want one that lists the arms", err)
	}
	if _, err := report.CompareArms(duel(1, nil).Run(), "cuda/first", "cuda/first", report.Options{}); err == nil {
		t.Error("an arm is compared with itself")
	}
}

// later is a duel of another session: other noise, another machine speed.
func later(ratio, speed float64, seed uint64) *synthetic.Builder {
	s := duel(ratio, nil)
	s.Seed = seed
	s.Record.RunID = "20260911T090000Z-4d5e6f"
	for i := range s.Cells {
		s.Cells[i].US *= speed
	}
	return s
}

func TestCompareRuns(t *testing.T) {
	for _, c := range []struct {
		name       string
		ratio      float64 // of the arm to its control in B; 0.8 in A
		speed      float64 // of all of B
		want       report.Verdict
		regression bool
	}{
		{"the arm got slower", 0.9, 1, report.Slower, true},
		{"the whole machine is slower, the arm is not", 0.8, 1.4, report.Equivalent, false},
		{"the arm got faster on a slower machine", 0.7, 1.4, report.Faster, false},
	} {
		got, err := report.CompareRuns(duel(0.8, nil).Run(), later(c.ratio, c.speed, 7).Run(), report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) != 2 || got.Rows[0].Verdict != report.Baseline || got.Rows[1].Verdict != c.want ||
			got.Regression != c.regression || !got.AcrossSessions {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		if r := got.Rows[1]; !(*r.Low <= c.ratio/0.8 && c.ratio/0.8 <= *r.High) {
			t.Errorf("%s: true quotient %g outside of [%g, %g]", c.name, c.ratio/0.8, *r.Low, *r.High)
		}
		if got.Rows[0].Ratio != nil {
			t.Errorf("%s: the baseline's times of two sessions were divided", c.name)
		}
	}
}

// Rounds that a stopping rule chose in one of the records cost error there too.
func TestCompareRunsPaysForLooks(t *testing.T) {
	compare := func(stop bool) report.ComparedRow {
		b := later(0.9, 1, 7)
		b.Record.Plan.Stop, b.Record.Plan.MaxRounds = stop, 60
		got, err := report.CompareRuns(duel(0.8, nil).Run(), b.Run(), report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Rows[1]
	}
	fixed, looked := compare(false), compare(true)
	if *looked.TableLow >= *fixed.TableLow || *looked.TableHigh <= *fixed.TableHigh || *looked.Low != *fixed.Low {
		t.Errorf("[%v, %v] with looks, [%v, %v] without", *looked.TableLow, *looked.TableHigh, *fixed.TableLow, *fixed.TableHigh)
	}
}

func TestCompareRunsWithoutACommonControl(t *testing.T) {
	for name, change := range map[string]func(*synthetic.Builder){
		"other binary":   func(s *synthetic.Builder) { s.Record.Entries[0].Identity.BinarySHA256 = strings.Repeat("3c", 32) },
		"unknown binary": func(s *synthetic.Builder) { s.Record.Entries[0].Identity.BinarySHA256 = "" },
		"other baseline": func(s *synthetic.Builder) { s.Record.Plan.Baseline = []string{"cuda/vector"} },
		"other device":   func(s *synthetic.Builder) { s.Record.Devices[1].Name = "Synthetic B" },
		"other inputs":   func(s *synthetic.Builder) { s.Record.Cases[0].Seed = 1 },
	} {
		b := later(1.6, 1, 7)
		change(b)
		got, err := report.CompareRuns(duel(0.8, nil).Run(), b.Run(), report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := got.Rows[1]; r.Verdict != report.NotComparable || r.Why == "" || r.Ratio != nil || got.Regression || got.Compared != 0 {
			t.Errorf("%s: %s (%s), regression %v", name, r.Verdict, r.Why, got.Regression)
		}
	}
}

func TestFailureInBIsARegression(t *testing.T) {
	b := later(0.8, 1, 7)
	b.Record.Entries[1].Error = "gate: output left unwritten"
	got, err := report.CompareRuns(duel(0.8, nil).Run(), b.Run(), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := got.Rows[1]; r.Verdict != report.Failed || !got.Regression {
		t.Errorf("%s, regression %v", r.Verdict, got.Regression)
	}
}

// The quotient of two ratios must hold its confidence: the control cancels, the
// arms' noise does not.
func TestQuotientCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const n, truth = 1000, 0.9 / 0.8
	hit := 0
	for i := range uint64(n) {
		a, b := duel(0.8, nil), later(0.9, 1.2, 2*i+2)
		a.Seed, a.Samples, b.Samples = 2*i+1, 5, 5
		got, err := report.CompareRuns(a.Run(), b.Run(), report.Options{Resamples: 200})
		if err != nil {
			t.Fatal(err)
		}
		if r := got.Rows[1]; *r.Low <= truth && truth <= *r.High {
			hit++
		}
	}
	// The intervals of package stats are a little wider than nominal (97 % here:
	// the less convinced of two methods speaks), and the quotient inherits that.
	if p := float64(hit) / n; p < 0.94 || p > 0.99 {
		t.Errorf("the 95 %% interval covers the truth in %.1f %% of %d", 100*p, n)
	}
}
