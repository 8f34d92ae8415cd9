package native

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"mage/gpu/simt"
	"mage/gpu/verdict"
	"mage/impl"
	"mage/kernels"
)

// pastTheEnd stores one word right behind the output.
func pastTheEnd(t *testing.T) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(fstest.MapFS{
		"kernel.toml": {Data: []byte(`
implementation = "cuda/past"
contract = "gelu"
precision = ["fp32"]
source = "gelu.cu"
hypothesis = "It tests what an operation tells of a defect."

[[launch]]
entry = "past"
params = [{ buffer = "out" }, { name = "n", type = "u32", value = "R * D" }]
grid = ["1"]
block = ["1"]
`)},
		"gelu.cu": {Data: []byte("x")},
		"gelu.ptx": {Data: []byte(`// source-sha256: 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881
// options: --gpu-architecture=compute_75 --std=c++17
.version 7.0
.target sm_75
.address_size 64
.visible .entry past(.param .u64 out, .param .u32 n) {
.reg .b64 %d<4>; .reg .b32 %r<3>;
ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
st.global.u32 [%d3], %r1; ret;
}
`)},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

// TestCounting: an operation on a device that counts says what its own last run cost
// and what all of its runs showed, whatever others run between.
func TestCounting(t *testing.T) {
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	test := small("gelu")
	o := Options{Device: d, Stream: s}
	good := openCase(t, open(t, o, builtin(t)), test, test.inputs(t, 1)).(impl.Counting)
	past := openCase(t, open(t, o, pastTheEnd(t)), test, test.inputs(t, 1)).(impl.Counting)
	defer good.Close()
	defer past.Close()
	if good.Counters() != (verdict.Counters{}) || good.Findings() != nil {
		t.Error("something was counted before the first run")
	}
	var first verdict.Counters
	for n := range 3 {
		if err := good.Run(); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = good.Counters()
		} else if good.Counters() != first {
			t.Errorf("run %d counted %+v, the first %+v", n, good.Counters(), first)
		}
		err := past.Run()
		if check := (*simt.CheckError)(nil); !errors.As(err, &check) {
			t.Errorf("a store past the output: %v", err)
		}
		if c := past.Counters(); c.Launches != 1 || c.Threads != 1 || len(past.Findings()) != n+1 {
			t.Errorf("run %d: %d findings, counters %+v", n, len(past.Findings()), c)
		}
	}
	if first.Launches != 1 || first.Threads == 1 || len(good.Findings()) != 0 {
		t.Errorf("counters %+v, findings %v", first, good.Findings())
	}
	if f := past.Findings()[0]; !strings.Contains(f.Detail, "0 bytes past the end of buffer out (3084 bytes)") {
		t.Errorf("detail %q", f.Detail)
	}
}

// On a device that does not count, an operation does not pretend to.
func TestTimedOperationsDoNotCount(t *testing.T) {
	d := newFakeDevice()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	test := small("gelu")
	op := openCase(t, open(t, Options{Device: d, Stream: s}, builtin(t)), test, test.inputs(t, 1))
	defer op.Close()
	if _, ok := op.(impl.Counting); ok {
		t.Error("it counts")
	}
}
