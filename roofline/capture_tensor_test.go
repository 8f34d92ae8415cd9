package roofline_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"mage/capture"
	"mage/capture/ncu"
	"mage/roofline"
)

func kernelsIn(t *testing.T, file string) []capture.Kernel {
	t.Helper()
	text, err := os.ReadFile("../capture/ncu/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ncu.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return kernels
}

func workOf(counters map[string]capture.Counter) roofline.Work {
	return roofline.FromCounters(func(name string) (float64, string, bool) {
		c, ok := counters[name]
		return c.Value, c.Unit, ok
	}, slices.Collect(maps.Keys(counters)))
}

// product is 2 · 4096³: the operations of each dense product in the captures.
const product = 2 * 4096 * 4096 * 4096

// products are the kernels that multiply, by the start of their names: the type on an
// H200, and the ceiling that each is under, if there is one.
var products = []struct {
	kernel string
	unit   roofline.Resource
	roof   string
}{
	{"nvjet_sm90_tst_", roofline.TensorBF16, "tensor-bf16"}, {"nvjet_sm90_hsh_", roofline.TensorFP16, "tensor-fp16"},
	{"nvjet_sm90_qqtst_", roofline.TensorFP8, ""}, {"void cutlass::Kernel2<cutlass_80_tensorop_i16832gemm_s8", roofline.TensorINT8, ""},
	{"sm90_xmma_gemm_f32f32_tf32f32_f32", roofline.TensorTF32, "tensor-tf32"}, {"sm90_xmma_gemm_f64f64_f64f64_f64", roofline.TensorFP64, ""},
}

func productOf(k capture.Kernel) (unit roofline.Resource, roof string) {
	for _, p := range products {
		if strings.HasPrefix(k.Name, p.kernel) {
			return p.unit, p.roof
		}
	}
	return "", ""
}

// TestTensorOperationsAreExact: on an H200 ncu counted two operations per multiply-add,
// to the last one, of the type that was multiplied and of no other. Kernels that load
// constants through the pipe have none.
func TestTensorOperationsAreExact(t *testing.T) {
	seen, constants := 0, 0
	for _, k := range kernelsIn(t, "tensor-operations.csv") {
		unit, _ := productOf(k)
		for name, c := range k.Counters {
			if !strings.HasPrefix(name, "sm__ops_path_tensor_src_") || strings.Contains(name, "sparsity") {
				continue
			}
			typed := "tensor-" + strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "sm__ops_path_tensor_src_"), ".sum"), "_dst_fp32")
			if want := map[bool]float64{true: product}[typed == string(unit)]; c.Value != want {
				t.Errorf("%s: %s is %.0f, want %.0f", k.Name, name, c.Value, want)
			}
		}
		worked := roofline.TensorCores(func(name string) (float64, string, bool) {
			c, ok := k.Counters[name]
			return c.Value, c.Unit, ok
		}, slices.Collect(maps.Keys(k.Counters)))
		if worked == nil || *worked != (unit != "") {
			t.Errorf("%s: tensor cores %v", k.Name, worked)
		}
		if unit != "" {
			seen++
		} else if k.Counters["sm__inst_executed_pipe_tensor.sum"].Value > 0 {
			constants++
		}
	}
	if seen != len(products) || constants == 0 {
		t.Errorf("%d products, %d kernels with constants", seen, constants)
	}
}

// TestTensorCoresByTheirPipe: without the operations, what ncu's sections tell of the
// same program says which kernels multiplied matrices, doubles among them, and their
// FLOPs are unknown.
func TestTensorCoresByTheirPipe(t *testing.T) {
	for _, k := range kernelsIn(t, "tensor.csv") {
		unit, _ := productOf(k)
		flops := workOf(k.Counters).FLOPs()
		if (flops == nil) != (unit != "") {
			t.Errorf("%s: %v FLOPs", k.Name, flops)
		}
		if strings.HasPrefix(k.Name, "sm80_xmma_gemm_f32f32_f32f32_f32") && (flops == nil || *flops < product || *flops > 1.01*product) {
			t.Errorf("%s: %v FLOPs", k.Name, flops)
		}
	}
}

// TestTensorCoresUnderRoofs puts together what two captures of one program counted on an
// H200, kernel by kernel, and places it under roofs of round numbers.
func TestTensorCoresUnderRoofs(t *testing.T) {
	roofs := roofline.Roofs{Roofs: []roofline.Roof{{Name: "dram-copy", Resource: roofline.DRAM, Rate: 4e12, Writes: 0.5}, {Name: "l2-read", Resource: roofline.L2, Rate: 15e12},
		{Name: "fp32-fma", Resource: roofline.FP32, Rate: 65e12}, {Name: "fp64-fma", Resource: roofline.FP64, Rate: 33e12}, {Name: "tensor-fp16", Resource: roofline.TensorFP16, Rate: 950e12},
		{Name: "tensor-bf16", Resource: roofline.TensorBF16, Rate: 950e12}, {Name: "tensor-tf32", Resource: roofline.TensorTF32, Rate: 475e12}},
		Lacking: map[roofline.Resource]string{roofline.TensorFP8: "none"}}
	work, operations := kernelsIn(t, "tensor.csv"), kernelsIn(t, "tensor-operations.csv")
	if len(work) != len(operations) {
		t.Fatalf("%d kernels and %d", len(work), len(operations))
	}
	for i, k := range work {
		if k.Name != operations[i].Name {
			t.Fatalf("%s is %s", k.Name, operations[i].Name)
		}
		for name, c := range operations[i].Counters {
			if _, ok := k.Counters[name]; !ok {
				k.Counters[name] = c
			}
		}
		unit, roof := productOf(k)
		w := workOf(k.Counters)
		p := roofline.Place(w, roofs)
		if unit == "" {
			continue
		}
		want := float64(product)
		if unit == roofline.TensorINT8 {
			want = 0
		}
		if flops := w.FLOPs(); flops == nil || *flops < want || *flops > want*1.01+1e9 || p.Intensity == nil || p.FLOPRate == nil {
			t.Errorf("%s: %v FLOPs, %+v", k.Name, flops, p)
		}
		lacks := slices.ContainsFunc(p.Unknown, func(s string) bool { return strings.HasPrefix(s, string(unit)+": its ceiling was not measured") })
		switch {
		case roof == "" && (p.Binds.Arithmetic() || !lacks):
			t.Errorf("%s: %s binds, unknown %q", k.Name, p.Binds, p.Unknown)
		case roof != "" && (p.Roof != roof || lacks || !(*p.Fraction > 0.5 && *p.Fraction < 1)):
			t.Errorf("%s: %v", k.Name, p)
		}
		t.Log(p)
	}
}
