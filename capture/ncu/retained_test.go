package ncu

import (
	"slices"
	"testing"

	"mage/capture"
)

// TestRetained reads what mage kept of ncu 2025.3.1 on an H200, cut to a part of the
// counters: cuda/first, the kernel in Rust, a Triton script, and a PyTorch expression
// of several kernels. The expected values are those of the files.
func TestRetained(t *testing.T) {
	type launch struct {
		name                       string
		times                      int
		grid, block                capture.Dim
		registers, static, dynamic int
		totalUS                    float64
	}
	for file, want := range map[string][]launch{
		"cuda-first": {{"gelu", 5, capture.Dim{12288, 1, 1}, capture.Dim{256, 1, 1}, 16, 0, 0, 53.216}},
		"rust-first": {{"gelu", 1, capture.Dim{12288, 1, 1}, capture.Dim{256, 1, 1}, 16, 0, 0, 10.656}},
		"triton":     {{"bias_gelu", 20, capture.Dim{3072, 1, 1}, capture.Dim{128, 1, 1}, 32, 0, 0, 152}},
		"torch": {
			{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
				5, capture.Dim{16, 12, 2}, capture.Dim{128, 1, 1}, 121, 0, 12672, 175.392},
			{"at::elementwise_kernel", 5, capture.Dim{3072, 1, 1}, capture.Dim{128, 1, 1}, 18, 0, 0, 22.336},
			{"at::vectorized_elementwise_kernel", 5, capture.Dim{768, 1, 1}, capture.Dim{128, 1, 1}, 31, 0, 0, 16.032},
			{"at::<unnamed>::vectorized_layer_norm_kernel", 5, capture.Dim{1024, 1, 1}, capture.Dim{32, 4, 1}, 39, 0, 24, 26.912},
		},
	} {
		r, err := parseIn(t, file+".csv", capture.Request{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r.Device != "NVIDIA H200" {
			t.Errorf("%s: on %q", file, r.Device)
		}
		var got []launch
		for _, k := range r.Kernels {
			if k.DurationUS == nil || *k.DurationUS <= 0 || k.Registers == nil || k.StaticShared == nil || k.DynamicShared == nil {
				t.Fatalf("%s: %+v", file, k)
			}
			for name, unit := range map[string]string{capture.Duration: "s", "dram__bytes_read.sum": "B", "gpc__cycles_elapsed.avg.per_second": "Hz",
				"sm__throughput.avg.pct_of_peak_sustained_elapsed": "%", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": "inst"} {
				if c, ok := k.Counters[name]; !ok || c.Unit != unit || c.Value < 0 {
					t.Errorf("%s: %s = %+v, want %s", file, name, c, unit)
				}
			}
			one := launch{capture.ShortName(k.Name), 1, k.Grid, k.Block, *k.Registers, *k.StaticShared, *k.DynamicShared, *k.DurationUS}
			at := slices.IndexFunc(got, func(l launch) bool { return l.name == one.name })
			if at < 0 {
				got = append(got, one)
				continue
			}
			one.times, one.totalUS = got[at].times+1, got[at].totalUS+one.totalUS
			got[at] = one
		}
		if !slices.EqualFunc(got, want, func(a, b launch) bool {
			d := a.totalUS - b.totalUS
			a.totalUS, b.totalUS = 0, 0
			return a == b && d < 1e-6 && d > -1e-6
		}) {
			t.Errorf("%s:\n%+v\nwant\n%+v", file, got, want)
		}
	}
}
