package ceiling

import (
	"math"
	"slices"
	"testing"

	"mage/roofline"
)

// retained is what mage doctor --ceilings wrote on an H200, but for ceilings whose kernels
// were corrected since.
func retained(t *testing.T) *File {
	t.Helper()
	f, err := Load("testdata/h200.json")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRetained holds the file against itself: each number follows from the samples, and
// the ceiling is of the best shape of its sweep.
func TestRetained(t *testing.T) {
	f := retained(t)
	if len(f.Failed()) > 0 || f.Device.Name != "NVIDIA H200" || f.Device.ComputeCapability != "9.0" {
		t.Errorf("%+v, failed: %q", f.Device, f.Failed())
	}
	last := -1
	for _, c := range f.Ceilings {
		at := slices.Index(Names(), c.Name)
		if at <= last {
			t.Errorf("%s is out of order, or unknown", c.Name)
		}
		last = at
		p := c.Confirmed
		if p == nil || len(p.SamplesUS) != confirmSamples || p.Checked == 0 && c.Unit != Microseconds {
			t.Errorf("%s: %+v", c.Name, p)
			continue
		}
		for _, q := range append(c.Sweep, *p) {
			again := Point{Amount: q.Amount, SamplesUS: q.SamplesUS}
			if err := again.summarize(c.Unit); err != nil || again.Median != q.Median || again.Low != q.Low || again.High != q.High || again.Best != q.Best {
				t.Errorf("%s, %s: %v, %+v", c.Name, q.Shape, err, again)
			}
		}
		for _, q := range c.Sweep {
			chosen := slices.IndexFunc(c.Sweep, func(q Point) bool { return q.Kernel == p.Kernel && q.Shape == p.Shape })
			if q.Median > 0 && c.Unit.better(q.Median, c.Sweep[chosen].Median) {
				t.Errorf("%s: %s, %s is better than what was chosen", c.Name, q.Kernel, q.Shape)
			}
		}
		if peak := f.Nominal(c.Name); peak > 0 && !(p.Median > 0.8*peak && p.Median < peak) {
			t.Errorf("%s: %g of a nominal peak of %g", c.Name, p.Median, peak)
		}
		if c.Before.SMClockMHz == nil || c.After.TemperatureC == nil {
			t.Errorf("%s: no state of the device", c.Name)
		}
	}
	roofs := f.Roofs()
	for _, r := range roofs.Roofs {
		if c, ok := f.Find(r.Name); !ok || math.Abs(r.Rate-c.Confirmed.Median) > 0 {
			t.Errorf("%s: %g", r.Name, r.Rate)
		}
	}
	for _, r := range []roofline.Resource{roofline.TensorFP8, roofline.TensorFP64, roofline.TensorINT8} {
		if roofs.Lacking[r] == "" {
			t.Errorf("no word about %s", r)
		}
	}
	if len(roofs.LaunchUS) != 4 {
		t.Errorf("%v", roofs.LaunchUS)
	}
}
