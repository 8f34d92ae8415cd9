package capture_test

import (
	"maps"
	"testing"

	"mage/capture"
)

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"gelu_kernel": "gelu_kernel",
		"void gelu<128>(float const*, float const*, float*, int)":                                        "gelu",
		"void at::native::(anonymous namespace)::fill<float>(int, at::native::F<2>)":                     "at::native::<unnamed>::fill",
		"void at::<unnamed>::distribution<float, 4, void at::f<int>(T1)::[lambda() (instance 1)]>(long)": "at::<unnamed>::distribution",
		"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(T1::Params)":                  "cutlass::Kernel2",
		"triton_poi_fused_add_gelu_0": "triton_poi_fused_add_gelu_0",
		"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int>(cublasGemv)": "internal::gemvx::kernel",
		"": "",
	} {
		if got := capture.ShortName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestShortNames tells kernels apart that differ in template arguments only, and
// gives one kernel one name.
func TestShortNames(t *testing.T) {
	got := capture.ShortNames([]string{"void f<1>(int)", "g", "void f<2>(int)", "void f<1>(int)", "()", ""})
	want := map[string]string{"void f<1>(int)": "f", "g": "g", "void f<2>(int)": "f (2)", "()": "()", "": ""}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
