package ceilings

import (
	"path/filepath"
	"testing"

	"mage/ceiling"
	"mage/evidence"
	"mage/report"
	"mage/roofline"
)

// TestRecordsUnderTheRetainedCeilings places the committed records of H200s under what
// was measured of one: nothing is beyond a ceiling by more than noise, and something of
// each kind is near one.
func TestRecordsUnderTheRetainedCeilings(t *testing.T) {
	f, err := ceiling.Load(retained)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("../../results/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err, len(dirs))
	}
	near := map[roofline.Resource]float64{}
	for _, dir := range dirs {
		run, err := evidence.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		roofs := f.Roofs()
		r, err := report.Build(run, report.Options{Roofs: &roofs, Resamples: 100})
		if err != nil {
			t.Logf("%s: %v", dir, err) // of another device
			continue
		}
		for _, x := range r.Roofline {
			p := x.Placement
			if len(p.Shares) == 0 || p.Fraction == nil {
				t.Errorf("%s: %s %s %s %s is under no ceiling", dir, x.Case, x.Mode, x.Cache, x.Arm)
				continue
			}
			if *p.Fraction > 1.05 {
				t.Errorf("%s: %s %s %s %s: %v", dir, x.Case, x.Mode, x.Cache, x.Arm, p)
			}
			near[p.Binds] = max(near[p.Binds], *p.Fraction)
		}
	}
	for _, r := range []roofline.Resource{roofline.DRAM, roofline.L2, roofline.FP32, roofline.Launch} {
		if near[r] < 0.5 {
			t.Errorf("nothing is near the ceiling of %s: %g", r, near[r])
		}
	}
}
