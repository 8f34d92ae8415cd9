package floor_test

import (
	"math"
	"testing"

	"mage/floor"
	"mage/gpu"
)

// A device of round numbers: 10 TFLOP/s, 1 TB/s, 50 MB of last-level cache.
var device = gpu.Info{PeakFP32: 10e12, PeakBandwidth: 1e12, L2Bytes: 50e6}

func TestFloor(t *testing.T) {
	for _, c := range []struct {
		name   string
		work   floor.Work
		device gpu.Info
		cold   bool
		us     float64
		bound  floor.Bound
	}{
		{"arithmetic bound", floor.Work{2e9, 10e6, 5e6, true}, device, false, 200, floor.Compute},
		{"fits the cache when hot", floor.Work{1e6, 40e6, 10e6, true}, device, false, 0.1, floor.Compute},
		{"every input when cold", floor.Work{1e6, 40e6, 10e6, true}, device, true, 30, floor.Bandwidth},
		{"and what the cache cannot hold of the output", floor.Work{1e6, 150e6, 70e6, true}, device, true, 100, floor.Bandwidth},
		{"only what the cache cannot hold", floor.Work{1e6, 150e6, 70e6, true}, device, false, 100, floor.Bandwidth},
		{"no arithmetic peak of another precision", floor.Work{2e9, 10e6, 5e6, false}, device, true, 5, floor.Bandwidth},
		{"hot, in cache, other precision", floor.Work{2e9, 10e6, 5e6, false}, device, false, 0, floor.None},
		{"unknown bandwidth", floor.Work{2e9, 10e9, 5e9, true}, gpu.Info{PeakFP32: 10e12}, true, 200, floor.Compute},
		{"unknown peaks", floor.Work{2e9, 10e9, 5e9, true}, gpu.Info{}, true, 0, floor.None},
		{"a cache of unknown size may hold all", floor.Work{0, 10e6, 4e6, true}, gpu.Info{PeakBandwidth: 1e12}, false, 0, floor.None},
		{"or the output when flushed", floor.Work{0, 10e6, 4e6, true}, gpu.Info{PeakBandwidth: 1e12}, true, 6, floor.Bandwidth},
		{"no work", floor.Work{0, 0, 0, true}, device, true, 0, floor.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := floor.Of(c.work, c.device, c.cold)
			if math.Abs(got.US-c.us) > 1e-9 || got.Bound != c.bound {
				t.Errorf("floor %g µs (%q), want %g µs (%q)", got.US, got.Bound, c.us, c.bound)
			}
		})
	}
}

// Bias+GELU over 16384×4096 floats moves 537 MB, 112 µs at the 4.8 TB/s that the
// specification of an H200 states, less what a 60 MB cache may keep, hot or cold.
func TestFloorOfALargeGelu(t *testing.T) {
	h200 := gpu.Info{PeakFP32: 67e12, PeakBandwidth: 4.8e12, L2Bytes: 60 << 20}
	out := int64(16384 * 4096 * 4)
	w := floor.Work{FLOPs: 8 * 16384 * 4096, Bytes: 2*out + 4096*4, Written: out, FP32: true}
	for _, cold := range []bool{false, true} {
		got := floor.Of(w, h200, cold).US + float64(60<<20)/4.8e12*1e6
		if got < 111 || got > 113 {
			t.Errorf("cold %v: %.1f µs with what the cache keeps, want about 112", cold, got)
		}
	}
}
