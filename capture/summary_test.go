package capture_test

import (
	"math"
	"os"
	"testing"

	"mage/capture"
	"mage/capture/ncu"
)

func kernel(name string, us float64, grid capture.Dim, stream int) capture.Kernel {
	return capture.Kernel{Name: name, DurationUS: &us, Grid: grid, Block: capture.Dim{128, 1, 1}, Stream: &stream}
}

func TestSummarize(t *testing.T) {
	kernels := []capture.Kernel{
		kernel("a", 3, capture.Dim{1, 1, 1}, 7), kernel("b", 10, capture.Dim{1, 1, 1}, 7), kernel("a", 5, capture.Dim{2, 1, 1}, 8),
		{Name: "c", Grid: capture.Dim{1, 1, 1}, Block: capture.Dim{1, 1, 1}},
	}
	groups, err := capture.Summarize(kernels)
	if err != nil || len(groups) != 3 {
		t.Fatalf("%v, %v", groups, err)
	}
	if g := groups[0]; g.Key[0] != "b" || g.Total != 10 || g.Share != 10.0/18 {
		t.Errorf("%+v", g)
	}
	if g := groups[1]; g.Key[0] != "a" || g.Timed != 2 || g.Total != 8 || g.Mean != 4 || g.Least != 3 || g.Most != 5 {
		t.Errorf("%+v", g)
	}
	if g := groups[2]; g.Timed != 0 || len(g.Launches) != 1 {
		t.Errorf("%+v", g)
	}
	if groups, err = capture.Summarize(kernels, "kernel", "grid", "block", "stream"); err != nil || len(groups) != 4 || groups[1].Key[3] != "8" {
		t.Errorf("%v, %v", groups, err)
	}
	if _, err = capture.Summarize(kernels, "colour"); err == nil {
		t.Error("grouped by colour")
	}
}

// counted is one launch of 2 µs that moved 6 MB and executed 3 million FMAs.
func counted() capture.Kernel {
	k := kernel("k", 2, capture.Dim{1, 1, 1}, 7)
	k.Counters = map[string]capture.Counter{
		"dram__bytes_read.sum":                                   {Value: 4e6, Unit: "B"},
		"dram__bytes_write.sum":                                  {Value: 2e6, Unit: "B"},
		"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": {Value: 85, Unit: "%"},
		"sm__throughput.avg.pct_of_peak_sustained_elapsed":       {Value: 30, Unit: "%"},
		"sm__inst_executed_pipe_tensor_op_hmma.sum":              {Value: 0, Unit: "inst"},
	}
	for _, m := range capture.AnalysisMetrics() {
		if _, ok := k.Counters[m]; !ok && len(m) > 40 && m[:11] == "smsp__sass_" {
			k.Counters[m] = capture.Counter{Value: 0, Unit: "inst"}
		}
	}
	k.Counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = capture.Counter{Value: 3e6, Unit: "inst"}
	return k
}

func TestAnalyze(t *testing.T) {
	a, b := counted(), counted()
	got := capture.Analyze([]*capture.Kernel{&a, &b})
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"bytes": {got.Bytes, 12e6}, "bandwidth": {got.Bandwidth, 3e12}, "flops": {got.FLOPs, 12e6}, "rate": {got.Rate, 3e12},
		"intensity": {got.Intensity, 1}, "dram": {got.DRAMBusy, 0.85},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-9*c.want {
			t.Errorf("%s = %v, want %g", name, c.got, c.want)
		}
	}
	if got.Bottleneck != "memory" || got.Occupancy != nil || got.L2Busy != nil {
		t.Errorf("%+v", got)
	}

	delete(b.Counters, "dram__bytes_write.sum") // one launch does not say
	if got := capture.Analyze([]*capture.Kernel{&a, &b}); got.Bytes != nil || got.Bandwidth != nil || got.Intensity != nil || got.FLOPs == nil {
		t.Errorf("%+v", got)
	}
	c := counted()
	c.Counters["sm__inst_executed_pipe_tensor_op_hmma.sum"] = capture.Counter{Value: 7, Unit: "inst"}
	if got := capture.Analyze([]*capture.Kernel{&c}); got.Intensity != nil || got.Rate != nil || got.Bandwidth == nil {
		t.Errorf("intensity %v although tensor cores worked", got.Intensity)
	}
	d := kernel("timed only", 1, capture.Dim{1, 1, 1}, 7)
	if got := capture.Analyze([]*capture.Kernel{&d}); got.Bottleneck != "unknown" || got.Bandwidth != nil {
		t.Errorf("%+v", got)
	}
	if got := capture.Analyze(nil); got.Bottleneck != "unknown" || got.Bytes != nil {
		t.Errorf("%+v", got)
	}
}

// TestAnalyzeReal: gelu of 4096×768 reads its input once, 12.58 MB, from DRAM, and
// its output stays in the cache.
func TestAnalyzeReal(t *testing.T) {
	text, err := os.ReadFile("ncu/testdata/raw-metrics.csv")
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ncu.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a := capture.Analyze([]*capture.Kernel{&kernels[0]})
	if input := 4096 * 768 * 4.0; a.Bytes == nil || *a.Bytes < input || *a.Bytes > 1.01*input {
		t.Errorf("bytes %v, want about %g", *a.Bytes, input)
	}
	if a.Bottleneck != "unknown" || a.FLOPs != nil {
		t.Errorf("%+v: neither utilisation nor operations were measured", a)
	}
}
