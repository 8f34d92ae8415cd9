package report_test

import (
	"math"
	"testing"

	"mage/report"
	"mage/report/internal/synthetic"
)

func TestMedianAndRates(t *testing.T) {
	x := cell(t, build(t, duel(1, nil).Run()), "cuda/first@driver", "span")
	if x.Verdict != report.Baseline || x.Effect != nil {
		t.Errorf("baseline: %s, %v", x.Verdict, x.Effect)
	}
	if len(x.RoundUS) != 20 || x.Samples != 1200 {
		t.Fatalf("%d rounds, %d samples", len(x.RoundUS), x.Samples)
	}
	if !(*x.LowUS <= 80 && 80 <= *x.HighUS) {
		t.Errorf("median %g [%g, %g] does not hold the true 80 µs", *x.MedianUS, *x.LowUS, *x.HighUS)
	}
	n := 4096.0 * 768
	if want := 9 * n / *x.MedianUS / 1e3; math.Abs(*x.GFLOPS/want-1) > 1e-12 {
		t.Errorf("%g GFLOP/s, want %g", *x.GFLOPS, want)
	}
	if want := (8*n + 4*768) / *x.MedianUS / 1e3; math.Abs(*x.GBps/want-1) > 1e-12 {
		t.Errorf("%g GB/s, want %g", *x.GBps, want)
	}
}

func TestImpossibleTime(t *testing.T) {
	s := duel(1, func(s *synthetic.Builder, x *synthetic.Cell) { x.US = 0.2 }) // 28 MFLOP take 0.42 µs at 67 TFLOP/s
	r := build(t, s.Run())
	x := cell(t, r, "cuda/vector@driver", "span")
	if x.Verdict != report.Impossible || x.Effect != nil || r.Header.Comparisons != 0 {
		t.Errorf("%s, effect %v, %d comparisons", x.Verdict, x.Effect, r.Header.Comparisons)
	}
	if len(r.Warnings) == 0 || r.Warnings[0].Kind != report.BelowFloor || r.Warnings[0].Severity != report.Error {
		t.Errorf("first warning %+v, want the error %s", r.Warnings, report.BelowFloor)
	}
	// As a baseline it is passed over, not trusted.
	s.Record.Plan.Baseline = []string{"cuda/vector", "cuda/first"}
	if x := cell(t, build(t, s.Run()), "cuda/first@driver", "span"); x.Verdict != report.Baseline {
		t.Errorf("cuda/first: %s, want it to be the baseline", x.Verdict)
	}
}

// The output of a cold operation may still be in the cache when the clock stops:
// only the reads are sure to have come from memory.
func TestColdFloorHoldsTheReadsAlone(t *testing.T) {
	for _, c := range []struct {
		share      float64 // of the time that reads and writes take at the peak
		impossible bool
	}{{0.6, false}, {0.4, true}} {
		s := duel(1, nil)
		k := s.Record.Cases[0]
		for i := range s.Cells {
			s.Cells[i].Cache = "cold"
		}
		s.Cells[1].US = c.share * float64(k.CompulsoryBytes) / 4.8e12 * 1e6
		x := cell(t, build(t, s.Run()), s.Cells[1].Arm, "span")
		if (x.Verdict == report.Impossible) != c.impossible {
			t.Errorf("%.1f of the time: %s", c.share, x.Verdict)
		}
	}
}

func TestSubmitTimeHasNoFloorAndNoRate(t *testing.T) {
	s := duel(1, func(s *synthetic.Builder, x *synthetic.Cell) {})
	for i := range s.Cells {
		s.Cells[i].Mode, s.Cells[i].Instrument, s.Cells[i].US = "submit", "host-clock", 0.1
	}
	x := cell(t, build(t, s.Run()), "cuda/vector@driver", "submit")
	if x.Verdict == report.Impossible || x.GFLOPS != nil || x.GBps != nil || x.FloorUS != nil {
		t.Errorf("submit mode does not time the work: %+v", x)
	}
}
