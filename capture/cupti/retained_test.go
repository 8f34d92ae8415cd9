package cupti

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mage/capture"
)

// group are the launches of one kernel in a retained trace. The total is in whole
// nanoseconds.
type group struct {
	name                       string
	times                      int
	grid, block                capture.Dim
	registers, static, dynamic int
	total                      int64
}

// TestRetained reads traces of an H200 (CUPTI 13.0, driver 580.159), as mage left
// them, with --capture-range cuda: 5 operations of cuda/first, 20 of a Triton script,
// 5 of a PyTorch expression of several kernels, and 20 of the Rust executable. Every
// trace must be whole; the expected values are those of its lines.
func TestRetained(t *testing.T) {
	want := map[string][]group{
		"cuda-first": {{"gelu", 5, capture.Dim{12288, 1, 1}, capture.Dim{256, 1, 1}, 16, 0, 0, 46592}},
		"rust-host":  {{"gelu", 20, capture.Dim{12288, 1, 1}, capture.Dim{256, 1, 1}, 16, 0, 0, 181921}},
		"triton":     {{"bias_gelu", 20, capture.Dim{3072, 1, 1}, capture.Dim{128, 1, 1}, 32, 0, 0, 128353}},
		"torch": {
			{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
				5, capture.Dim{16, 12, 2}, capture.Dim{128, 1, 1}, 121, 0, 12672, 169631},
			{"at::native::elementwise_kernel", 5, capture.Dim{3072, 1, 1}, capture.Dim{128, 1, 1}, 18, 0, 0, 17568},
			{"at::native::vectorized_elementwise_kernel", 5, capture.Dim{768, 1, 1}, capture.Dim{128, 1, 1}, 31, 0, 0, 11072},
			{"at::native::<unnamed>::vectorized_layer_norm_kernel", 5, capture.Dim{1024, 1, 1}, capture.Dim{32, 4, 1}, 39, 0, 24, 21345},
		},
	}
	calls := map[string][2]string{
		"cuda-first": {"cuLaunchKernel", "cuStreamSynchronize"}, "rust-host": {"cuLaunchKernel", "cuEventRecord"},
		"triton": {"cuLaunchKernelEx", "cudaGetDevice"}, "torch": {"cudaLaunchKernel", "cudaMemsetAsync"},
	}
	paths, err := filepath.Glob("testdata/*.trace")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != len(want) {
		t.Errorf("%d traces are retained, and %d expected", len(paths), len(want))
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".trace")
		tr, err := readFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := judge([]*trace{tr}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		r := result([]*trace{tr})
		if got := groups(t, r); !slices.Equal(got, want[name]) {
			t.Errorf("%s:\n%+v\nwant\n%+v", path, got, want[name])
		}
		if r.Device != "NVIDIA H200" || r.Versions["cupti"] != "13.0.1" {
			t.Errorf("%s: device %q, versions %v", path, r.Device, r.Versions)
		}
		for _, call := range calls[name] {
			if !slices.ContainsFunc(r.Calls, func(c capture.APICall) bool { return strings.HasPrefix(c.Name, call) && c.DurationUS > 0 }) {
				t.Errorf("%s: no call of %s", path, call)
			}
		}
		fills, bytes := 0, int64(0)
		for _, c := range r.Copies {
			fills, bytes = fills+1, bytes+c.Bytes
			if c.Kind != "fill" || c.DurationUS <= 0 {
				t.Errorf("%s: %+v", path, c)
			}
		}
		if wanted := map[string]int{"torch": 5}[name]; fills != wanted || bytes != int64(wanted)*1536 {
			t.Errorf("%s: %d fills of %d bytes", path, fills, bytes)
		}
	}
}

// groups joins the launches of each kernel; each must follow the last and belong to
// the call that launched it.
func groups(t *testing.T, r capture.Result) (out []group) {
	t.Helper()
	launched := map[int64]capture.APICall{}
	for _, c := range r.Calls {
		if strings.Contains(c.Name, "Launch") && c.Correlation != nil {
			launched[*c.Correlation] = c
		}
	}
	var end int64
	for _, k := range r.Kernels {
		if k.DurationUS == nil || k.StartNS == nil || k.Registers == nil || k.StaticShared == nil || k.DynamicShared == nil || k.Correlation == nil {
			t.Fatalf("%+v", k)
		}
		ns := int64(*k.DurationUS*1000 + 0.5)
		if ns <= 0 || *k.StartNS < end {
			t.Errorf("%+v overlaps what ended at %d", k, end)
		}
		end = *k.StartNS + ns
		if call, ok := launched[*k.Correlation]; !ok || call.StartNS >= *k.StartNS {
			t.Errorf("%+v was launched by %+v", k, call)
		}
		one := group{capture.ShortName(k.Name), 1, k.Grid, k.Block, *k.Registers, *k.StaticShared, *k.DynamicShared, ns}
		at := slices.IndexFunc(out, func(g group) bool { return g.name == one.name })
		if at < 0 {
			out = append(out, one)
			continue
		}
		out[at].times, out[at].total = out[at].times+1, out[at].total+ns
	}
	return out
}
