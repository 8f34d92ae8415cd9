package native

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"mage/contract"
	"mage/gate"
	"mage/gpu/simt"
	"mage/impl"
	"mage/input"
	"mage/kernels"
)

// product is a kernel of the matmul contract at 1×1×1 that consists of a PTX body: %a,
// %b, %out and %tmp are addresses of a word each, %f1 and %f2 the factors.
func product(t *testing.T, body string) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(fstest.MapFS{
		"kernel.toml": {Data: []byte(`
implementation = "cuda/product"
contract = "matmul"
precision = ["fp32"]
source = "product.cu"
hypothesis = "It tests what the gate and the checks see."

[[scratch]]
name = "tmp"
bytes = "4"

[[launch]]
entry = "product"
params = [{ buffer = "a" }, { buffer = "b" }, { buffer = "out" }, { buffer = "tmp" }]
grid = ["1"]
block = ["1"]
`)},
		"product.cu": {Data: []byte("x")},
		"product.ptx": {Data: []byte(`// source-sha256: 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881
// options: --gpu-architecture=compute_75 --std=c++17
.version 7.0
.target sm_75
.address_size 64
.global .f32 kept;
.global .u32 times;
.visible .entry product(.param .u64 pa, .param .u64 pb, .param .u64 po, .param .u64 pt) {
.reg .b64 %a, %b, %out, %tmp; .reg .b32 %r<3>; .reg .f32 %f<5>; .reg .pred %p;
ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %out, [po]; ld.param.u64 %tmp, [pt];
ld.global.f32 %f1, [%a]; ld.global.f32 %f2, [%b];
` + body + "\nret;\n}\n")},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

// TestCheatsOnTheSimulator: what is not the work that was asked for is rejected, by the
// gate or by a check that says where.
func TestCheatsOnTheSimulator(t *testing.T) {
	matmul, err := contract.Find("matmul", contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	test := testCase{"one", matmul, contract.Dims{"M": 1, "N": 1, "K": 1}, input.DefaultDistribution("matmul")}
	const honest = "mul.f32 %f3, %f1, %f2; st.global.f32 [%out], %f3; "
	for _, x := range []struct {
		name, body string
		want       string // in the finding or the failure of the gate; "" for none
	}{
		{"honest", honest, ""},
		{"honest, with scratch memory", "st.global.f32 [%tmp], %f1; ld.global.f32 %f1, [%tmp]; " + honest, ""},
		{"writes nothing", "", "still poisoned"},
		{"writes the old result", "ld.global.f32 %f3, [%out]; st.global.f32 [%out], %f3;", "nothing has written is read"},
		{"reads the poison, for nothing", "ld.global.f32 %f3, [%out]; " + honest, "nothing has written is read"},
		{"adds to the poison", "mul.f32 %f3, %f1, %f2; red.global.add.f32 [%out], %f3;", "changed by an atomic"},
		{"works when it sees the poison only", "ld.global.u32 %r1, [%out]; setp.ne.u32 %p, %r1, -1; @%p ret; " + honest, "nothing has written is read"},
		{"reads the guard", "ld.global.f32 %f4, [%out+-4]; " + honest, "4 bytes before the start of buffer out"},
		{"writes into the guard", honest + "st.global.f32 [%out+4], %f3;", "0 bytes past the end of buffer out"},
		{"writes into the far guard", honest + "st.global.f32 [%out+60], %f3;", "56 bytes past the end of buffer out"},
		{"depends on scratch memory of the last run", "ld.global.f32 %f4, [%tmp]; st.global.f32 [%tmp], %f1; " + honest, "nothing has written is read"},
		{"keeps the first result", `ld.global.u32 %r1, [times]; add.u32 %r2, %r1, 1; st.global.u32 [times], %r2; setp.eq.u32 %p, %r1, 0;
@!%p bra KEPT; mul.f32 %f3, %f1, %f2; st.global.f32 [kept], %f3; KEPT: ld.global.f32 %f3, [kept]; st.global.f32 [%out], %f3;`, "out of tolerance"},
		{"writes an input", honest + "st.global.f32 [%a], %f3;", "input a modified"},
		{"writes NaN", "mov.f32 %f3, 0f7FFFFFFF; st.global.f32 [%out], %f3;", "non-finite"},
	} {
		d, err := simt.Open(simt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in := test.inputs(t, 1)
		op := openCase(t, open(t, Options{Device: d}, product(t, x.body)), test, in).(impl.Counting)
		got := ""
		for _, s := range []gate.Spec{{Inputs: in, Stage: gate.Before}, {Inputs: test.inputs(t, 2), Stage: gate.Challenge, Restore: in}} {
			s.Contract, s.Dims, s.Reference = matmul, test.dims, matmul.Reference(test.dims, s.Inputs)
			r, err := gate.Check(op, s)
			if found, ok := errors.AsType[*simt.CheckError](err); err != nil && !ok {
				t.Fatalf("%s: %v", x.name, err)
			} else if ok {
				got += found.Error()
			}
			got += r.Failure
		}
		if (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
		if err := errors.Join(op.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}
