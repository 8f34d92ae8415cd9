package roofline_test

import (
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"mage/capture/ncu"
	"mage/roofline"
)

// TestOfACapture places what Nsight Compute wrote on an H200, under roofs of round
// numbers, and holds it against the numbers in the file.
func TestOfACapture(t *testing.T) {
	text, err := os.ReadFile("../capture/ncu/testdata/raw-metrics.csv")
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ncu.Parse(text)
	if err != nil || len(kernels) == 0 {
		t.Fatal(err, len(kernels))
	}
	roofs := roofline.Roofs{Roofs: []roofline.Roof{{Name: "dram-read", Resource: roofline.DRAM, Rate: 4e12}, {Name: "fp32-fma", Resource: roofline.FP32, Rate: 6e13}}}
	for _, k := range kernels {
		value := func(name string) float64 { return k.Counters[name].Value }
		p := roofline.Place(roofline.FromCounters(func(name string) (float64, string, bool) {
			c, ok := k.Counters[name]
			return c.Value, c.Unit, ok
		}, slices.Collect(maps.Keys(k.Counters))), roofs)
		bytes := value("dram__bytes_read.sum") + value("dram__bytes_write.sum")
		if len(p.Shares) == 0 || p.Shares[0].Resource != roofline.DRAM || p.Shares[0].Amount.Value != bytes {
			t.Fatalf("%s: %+v", k.Name, p)
		}
		if want := bytes / 4e12 / value("gpu__time_duration.sum"); math.Abs(*p.Shares[0].Fraction/want-1) > 1e-9 || !(want > 0) {
			t.Errorf("%s: %g of the ceiling, want %g", k.Name, *p.Shares[0].Fraction, want)
		}
		t.Log(k.Name, p)
	}
}
