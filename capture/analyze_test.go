package capture_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mage/capture"
	"mage/capture/ncu"
	"mage/roofline"
)

// TestWork: two launches are added up, and what one of them lacks is not counted.
func TestWork(t *testing.T) {
	demand := func(w roofline.Work, r roofline.Resource) float64 {
		for _, d := range w.Demands {
			if d.Resource == r {
				return d.Amount.Value
			}
		}
		return math.NaN()
	}
	a, b := counted(), counted()
	for _, k := range []*capture.Kernel{&a, &b} {
		k.Counters[capture.Duration] = capture.Counter{Value: 2e-6, Unit: "s"}
		k.Counters["lts__t_sectors_srcunit_tex.sum"] = capture.Counter{Value: 1000, Unit: "sector"}
	}
	w := capture.Work([]*capture.Kernel{&a, &b})
	// As in TestAnalyze: 12 MB and 12 MFLOP; 2000 sectors of 32 bytes.
	if w.TimeUS == nil || math.Abs(w.TimeUS.Value-4) > 1e-9 || demand(w, roofline.DRAM) != 12e6 || demand(w, roofline.FP32) != 12e6 || demand(w, roofline.L2) != 64000 {
		t.Errorf("%+v", w)
	}
	if missing := capture.Uncounted([]*capture.Kernel{&a, &b}); len(missing) > 0 {
		t.Errorf("lacking: %q", missing)
	}
	delete(b.Counters, "dram__bytes_read.sum")
	if got := demand(capture.Work([]*capture.Kernel{&a, &b}), roofline.DRAM); !math.IsNaN(got) {
		t.Errorf("%g bytes, though one launch does not say", got)
	}
	if missing := capture.Uncounted([]*capture.Kernel{&a, &b}); !slices.Equal(missing, []string{"dram__bytes_read.sum"}) {
		t.Errorf("lacking: %q", missing)
	}
	b.Counters["dram__bytes_read.sum"] = capture.Counter{Value: 1, Unit: "sector"}
	if got := demand(capture.Work([]*capture.Kernel{&a, &b}), roofline.DRAM); !math.IsNaN(got) {
		t.Errorf("%g of different units", got)
	}
}

// TestWorkReal: gelu of 4096×768 on an H200. Its pipe of tensor cores was busy with
// constants, and the counters by type say that there was no matrix.
func TestWorkReal(t *testing.T) {
	text, err := os.ReadFile("ncu/testdata/raw-full.csv")
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ncu.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	k := []*capture.Kernel{&kernels[2]}
	if pipe := k[0].Counters["sm__inst_executed_pipe_tensor_op_hmma.sum.pct_of_peak_sustained_active"]; !(pipe.Value > 0) {
		t.Fatalf("the pipe was idle: %+v", pipe)
	}
	if a := capture.Analyze(k); a.Tensor == nil || *a.Tensor {
		t.Errorf("tensor cores: %v", a.Tensor)
	}
	w := capture.Work(k)
	// Input and output pass through the L2 once, 25.2 MB.
	through := 2 * 4096 * 768 * 4.0
	if l2 := w.Demands[1]; l2.Resource != roofline.L2 || l2.Amount.Value < through || l2.Amount.Value > 1.01*through {
		t.Errorf("L2: %+v, want about %g", l2, through)
	}
	if missing := capture.Uncounted(k); len(missing) != 9 || slices.ContainsFunc(missing, func(s string) bool { return strings.Contains(s, "tensor") }) {
		t.Errorf("lacking: %q, want the nine counters of instructions", missing)
	}
}

// TestConstants: on an H200 the pipe of tensor cores was busy in proportion to the
// HFMA2 of two kernels that multiply no matrix, to the last digit that ncu printed.
func TestConstants(t *testing.T) {
	text, err := os.ReadFile("ncu/testdata/raw-full.csv")
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ncu.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	of := func(k int) (pipe, constants float64) {
		c := kernels[k].Counters
		return c["sm__inst_executed_pipe_tensor_op_hmma.sum.pct_of_peak_sustained_elapsed"].Value, c["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed"].Value
	}
	pipe, constants := of(0)
	if !(pipe > 0 && constants > 0) {
		t.Fatalf("pipe %g %%, HFMA2 %g per cycle", pipe, constants)
	}
	for _, k := range []int{1, 2} {
		// Half of the last digit of either percentage.
		if p, c := of(k); math.Abs(p-c*pipe/constants) > 0.005+0.005*c/constants {
			t.Errorf("%s: the pipe was busy for %g %%, its HFMA2 would make %g %%", kernels[k].Name, p, c*pipe/constants)
		}
	}
}

// TestDoublesOnTensorCores: a product of doubles executes few instructions on the CUDA
// cores; without a count of what tensor cores did, its FLOPs are unknown and not those.
func TestDoublesOnTensorCores(t *testing.T) {
	text, err := os.ReadFile("ncu/testdata/tensor.csv")
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ncu.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(kernels, func(k capture.Kernel) bool { return strings.Contains(k.Name, "gemm_f64f64_f64f64_f64") })
	a := capture.Analyze([]*capture.Kernel{&kernels[i]})
	if a.Tensor == nil || !*a.Tensor || a.FLOPs != nil || a.Rate != nil || a.Intensity != nil || a.Bytes == nil {
		t.Errorf("%+v", a)
	}
	missing := capture.Uncounted([]*capture.Kernel{&kernels[i]})
	if len(missing) != 7 || !slices.Contains(missing, "sm__ops_path_tensor_src_fp64.sum") || !slices.Contains(capture.AnalysisMetrics(), missing[0]) {
		t.Errorf("lacking: %q", missing)
	}
}
