package contract

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mage/tensor"
)

func TestFind(t *testing.T) {
	for _, c := range All() {
		got, err := Find(c.Name(), FP32)
		if err != nil || got != c {
			t.Errorf("Find(%q) = %v, %v", c.Name(), got, err)
		}
	}
	for _, bad := range []struct {
		name string
		p    Precision
		says string
	}{
		{"matmull", FP32, `did you mean "matmul"`},
		{"GELU", FP32, `did you mean "gelu"`},
		{"neighbour", FP32, `did you mean "neighbor"`},
		{"layer_norm", FP32, `did you mean "layernorm"`},
		{"matmul", "fp23", `unknown precision "fp23": did you mean "fp32"`},
		{"matmul", "", `unknown precision ""`},
	} {
		_, err := Find(bad.name, bad.p)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("Find(%q, %q): %v, want %s", bad.name, bad.p, err, bad.says)
		}
	}
}

func TestCheckDims(t *testing.T) {
	find := func(name string) Contract {
		c, err := Find(name, FP32)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, x := range []struct {
		contract string
		d        Dims
		says     string // "" accepts
	}{
		{"matmul", Dims{"M": 1, "N": 1, "K": 1}, ""},
		{"matmul", Dims{"M": 1, "N": 1}, "matmul: dim K is missing (needs M, N, K)"},
		{"matmul", Dims{"M": 1, "N": 1, "k": 1}, `unknown dim "k": did you mean "K"`},
		{"matmul", Dims{"M": 1, "N": 0, "K": 1}, "dim N = 0 must be positive"},
		{"matmul", Dims{"M": -3, "N": 1, "K": 1}, "dim M = -3 must be positive"},
		{"matmul", Dims{"M": 46340, "N": 46340, "K": 1}, ""},
		{"matmul", Dims{"M": 46341, "N": 46341, "K": 1}, "out would hold 46341×46341 elements, more than 2147483647"},
		{"matmul", Dims{"M": 1, "N": 65536, "K": 65536}, "b would hold"},
		{"matmul", Dims{"M": math.MaxInt32, "N": 1, "K": 1}, ""},
		{"matmul", Dims{"M": math.MaxInt32 + 1, "N": 1, "K": 1}, "exceeds 2147483647"},
		{"matmul", Dims{"M": math.MaxInt, "N": math.MaxInt, "K": math.MaxInt}, "exceeds"},
		// 2¹¹ · 2¹¹ · 2¹¹ = 2³³ overflows, each face does not
		{"triangle", Dims{"N": 2048, "C": 2048}, "would hold"},
		{"triangle", Dims{"N": 32767, "C": 2}, ""},
		{"gelu", Dims{"R": 65536, "D": 32768}, "would hold"},
		{"layernorm", Dims{"R": 65535, "D": 32768}, ""},
		{"neighbor", Dims{"N": 1, "F": 1, "E": 0}, ""},
		{"neighbor", Dims{"N": 1, "F": 1, "E": -1}, "dim E = -1"},
		{"neighbor", Dims{"N": 0, "F": 1, "E": 0}, "dim N = 0"},
		{"neighbor", Dims{"N": math.MaxInt32, "F": 1, "E": 0}, "rowptr would hold"},
		{"neighbor", nil, "dim N is missing"},
	} {
		err := find(x.contract).CheckDims(x.d)
		var e *Error
		switch {
		case x.says == "" && err != nil:
			t.Errorf("%s %v: %v", x.contract, x.d, err)
		case x.says != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), x.says)):
			t.Errorf("%s %v: %v, want %q", x.contract, x.d, err, x.says)
		}
	}
}

// Whatever dims are accepted, every array's length fits an int32, its bytes are
// its length times four, and the counts are positive.
func TestAcceptedDimsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(All()).Draw(t, "contract")
		d := Dims{}
		fits := true
		for _, n := range c.DimNames() {
			d[n] = rapid.OneOf(rapid.IntRange(-1, 70), rapid.IntRange(1000, 70000), rapid.Int()).Draw(t, n)
			fits = fits && (d[n] > 0 || d[n] == 0 && n == "E")
		}
		for _, s := range append(c.Inputs(d), c.Output(d)) {
			product := 1.0 // independent of the integer check; exact below 2⁵³
			for _, v := range s.Shape {
				product *= float64(v)
			}
			fits = fits && product < 1<<31
		}
		if err := c.CheckDims(d); (err == nil) != fits {
			t.Fatalf("%s %v: fits %v, but CheckDims says %v", c.Name(), d, fits, err)
		}
		if !fits {
			return
		}
		for _, s := range append(c.Inputs(d), c.Output(d)) {
			if s.Bytes() != 4*s.Len() || s.Len() < 0 {
				t.Fatalf("%s: %v", c.Name(), s)
			}
		}
		if c.FLOPs(d) < 0 || c.FLOPs(d) == 0 && d["E"] != 0 {
			t.Fatalf("%s %v: %v FLOPs", c.Name(), d, c.FLOPs(d))
		}
	})
}

func TestInputsAreInParameterOrder(t *testing.T) {
	want := map[string]string{
		"matmul": "a b", "gelu": "a b", "layernorm": "a b c", "triangle": "a b", "neighbor": "a b rowptr indices",
	}
	for _, c := range All() {
		var names []string
		for _, s := range c.Inputs(c.Small()) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want[c.Name()] {
			t.Errorf("%s: %s, want %s", c.Name(), got, want[c.Name()])
		}
		if c.Output(c.Small()).Name != "out" {
			t.Errorf("%s: output %q", c.Name(), c.Output(c.Small()).Name)
		}
		if (c.Tolerance() != Tolerance{1e-4, 1e-4}) || c.Precision() != FP32 {
			t.Errorf("%s: %v %v", c.Name(), c.Tolerance(), c.Precision())
		}
	}
}

func TestCheckInputs(t *testing.T) {
	u := func(in Tensors, name string, at int, v uint32) {
		w := slices.Clone(in[name].Uint32s())
		w[at] = v
		in[name].PutUint32s(w)
	}
	f := func(in Tensors, name string, at int, v float64) {
		w := slices.Clone(in[name].Float32s())
		w[at] = float32(v)
		in[name].PutFloat32s(w)
	}
	for _, x := range []struct {
		c      Contract
		change func(Tensors)
		says   string
	}{
		{Matmul{}, func(in Tensors) { delete(in, "b") }, "input b is missing"},
		{Matmul{}, func(in Tensors) { in["d"] = in["a"] }, "unexpected input d (takes a, b)"},
		{Matmul{}, func(in Tensors) { in["a"] = in["b"] }, "input a has shape 23×19, want 17×23"},
		{Matmul{}, func(in Tensors) { b := in["b"]; b.Data = b.Data[:8]; in["b"] = b }, "input b holds 8 bytes, want 1748"},
		{Matmul{}, func(in Tensors) { b := in["b"]; b.DType = tensor.U32; in["b"] = b }, `input b has type "u32", want "f32"`},
		{Matmul{}, func(in Tensors) { f(in, "a", 24, math.NaN()); f(in, "a", 300, math.NaN()) }, "input a[1 1] is NaN, not finite"},
		{GELU{}, func(in Tensors) { f(in, "b", 256, math.Inf(-1)) }, "input b[256] is -Inf"},
		{GELU{}, func(in Tensors) { f(in, "b", 0, math.MaxFloat32) }, ""},
		{LayerNorm{}, func(in Tensors) { f(in, "c", 7, math.Inf(1)) }, "input c[7] is +Inf"},
		{Neighbor{}, func(in Tensors) {}, ""},
		{Neighbor{}, func(in Tensors) { u(in, "rowptr", 0, 1) }, "rowptr[0] is 1, want 0"},
		{Neighbor{}, func(in Tensors) { u(in, "rowptr", 7, 22) }, "rowptr"},
		{Neighbor{}, func(in Tensors) { u(in, "rowptr", 7, 24) }, "rowptr ends at 24, want E = 23"},
		{Neighbor{}, func(in Tensors) { u(in, "rowptr", 3, 99) }, "rowptr[4] = "},
		{Neighbor{}, func(in Tensors) { u(in, "rowptr", 3, math.MaxUint32) }, "is below rowptr[3] = 4294967295"},
		{Neighbor{}, func(in Tensors) { u(in, "indices", 5, 7) }, "indices[5] = 7 is not below N = 7"},
		{Neighbor{}, func(in Tensors) { u(in, "indices", 5, math.MaxUint32) }, "indices[5] = 4294967295"},
	} {
		in := sample(x.c, x.c.Small(), 2)
		x.change(in)
		err := x.c.CheckInputs(x.c.Small(), in)
		var e *Error
		switch {
		case x.says == "" && err != nil:
			t.Errorf("%s: %v", x.c.Name(), err)
		case x.says != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), x.says)):
			t.Errorf("%s: %v, want %q", x.c.Name(), err, x.says)
		}
	}
}

// The first non-finite value is named wherever it is and however the work was
// divided.
func TestFirstNonFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := make([]float32, 3*grain+5)
		at := rapid.SliceOfN(rapid.IntRange(0, len(v)-1), 0, 5).Draw(t, "at")
		for _, i := range at {
			v[i] = float32(math.Inf(1))
		}
		i, _, found := firstNonFinite(v)
		if found != (len(at) > 0) || found && i != slices.Min(at) {
			t.Fatalf("found %v at %d, want the first of %v", found, i, at)
		}
	})
}
