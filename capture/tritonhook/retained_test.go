package tritonhook

import (
	"path/filepath"
	"testing"

	"mage/capture"
)

// TestRetained reads the logs that Python under mage profile --backend triton wrote
// on an H200: a script with a Triton kernel, and the same with torch.compile, whose
// kernel Inductor launches.
func TestRetained(t *testing.T) {
	for name, want := range map[string]struct {
		kernel             string
		launches           int
		grid, block        capture.Dim
		registers, dynamic int
		least, most        float64 // µs
	}{
		"script":  {"bias_gelu", 20, capture.Dim{3072, 1, 1}, capture.Dim{128, 1, 1}, 32, 0, 10.848, 17.568},
		"compile": {"triton_per_fused_add_gelu_native_layer_norm_0", 5, capture.Dim{1024, 1, 1}, capture.Dim{32, 1, 1}, 64, 0, 25.632, 51.552},
	} {
		l, err := readFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if err := judge([]*log{l}, capture.CUDA); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r := result([]*log{l})
		if r.Device != "NVIDIA H200" || r.Versions["triton"] != "3.6.0" || r.Versions["torch"] != "2.11.0+cu130" || r.Versions["python"] != "3.12.3" {
			t.Errorf("%s: device %q, versions %v", name, r.Device, r.Versions)
		}
		if len(r.Kernels) != want.launches || len(r.Warnings) != 1 {
			t.Errorf("%s: %d launches, warnings %q", name, len(r.Kernels), r.Warnings)
		}
		least, most := 0.0, 0.0
		for i, k := range r.Kernels {
			if k.Name != want.kernel || k.Grid != want.grid || k.Block != want.block || *k.Registers != want.registers || *k.DynamicShared != want.dynamic {
				t.Errorf("%s: %+v", name, k)
			}
			if us := *k.DurationUS; i == 0 {
				least, most = us, us
			} else {
				least, most = min(least, us), max(most, us)
			}
		}
		if d := least - want.least; d > 1e-3 || d < -1e-3 {
			t.Errorf("%s: at least %g µs, want %g", name, least, want.least)
		}
		if d := most - want.most; d > 1e-3 || d < -1e-3 {
			t.Errorf("%s: at most %g µs, want %g", name, most, want.most)
		}
	}
}
