package report_test

import (
	"math"
	"slices"
	"testing"

	"mage/report"
)

func TestControl(t *testing.T) {
	s := duel(0.9, nil)
	control := s.Control("cuda/first@driver")
	c := s.Cells[0]
	c.Arm = control
	s.Add(c)
	s.Entry(c.Case, control, "", 0)
	r := build(t, s.Run())
	x := cell(t, r, control, "span")
	if x.Verdict != report.Control || x.Effect == nil || x.Effect.Against != "cuda/first@driver" {
		t.Fatalf("%s, %+v", x.Verdict, x.Effect)
	}
	if r.Header.Comparisons != 1 {
		t.Errorf("%d comparisons; a control is not one of them", r.Header.Comparisons)
	}
	if len(r.Header.Resolution) != 1 || !(r.Header.Resolution[0].High > 0 && r.Header.Resolution[0].High < 0.01) {
		t.Errorf("resolution %+v", r.Header.Resolution)
	}
	has(t, x.Warnings, "control-differs", false)
	s.Cells[2].US *= 1.03
	r = build(t, s.Run())
	has(t, cell(t, r, control, "span").Warnings, "control-differs", true)
	if x := r.Header.Resolution[0]; x.Controls != 1 || x.FalsePositives != 1 || math.Abs(x.P-0.05) > 1e-9 {
		t.Errorf("a control that differs: %+v", x)
	}
	// What the control cannot tell from nothing, nobody can.
	if res := *r.Cases[0].Groups[0].Resolution; res < 0.03 {
		t.Errorf("resolution %g, though the control is off by 0.03", res)
	}
}

// One control in twenty may differ from itself; two of two are a fault.
func TestTooManyControlsDiffer(t *testing.T) {
	s := duel(0.9, nil)
	control := s.Control("cuda/first@driver")
	other := s.Gelu(64, 768)
	for _, arm := range []string{"cuda/first@driver", "cuda/vector@driver"} {
		s.Entry(other, arm, "", 0)
	}
	for _, c := range slices.Clone(s.Cells) {
		c.Case = other
		s.Add(c)
	}
	for _, id := range []string{s.Record.Cases[0].ID, other} {
		c := s.Cells[0]
		c.Case, c.Arm, c.US = id, control, c.US*1.03
		s.Add(c)
		s.Entry(id, control, "", 0)
	}
	r := build(t, s.Run())
	if x := r.Header.Resolution; len(x) != 1 || x[0].Controls != 2 || x[0].FalsePositives != 2 {
		t.Errorf("resolution %+v", x)
	}
	if i := slices.IndexFunc(r.Warnings, func(w report.Warning) bool { return w.Case == "" && w.Kind == "control-differs" }); i < 0 || r.Warnings[i].Mode != "span" {
		t.Errorf("no warning about the run: %+v", r.Warnings)
	}
}
