package native

import (
	"testing"
	"testing/fstest"

	"mage/gpu"
	"mage/kernels"
)

// twoStage is gelu as two launches with a scratch buffer between them: the first
// copies a there, the second computes from it. The scratch is zeroed before.
func twoStage(t *testing.T) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(fstest.MapFS{
		"kernel.toml": {Data: []byte(`
implementation = "cuda/two-stage"
contract = "gelu"
precision = ["fp32"]
source = "gelu.cu"
hypothesis = "It tests an operation of several kernels."

[[scratch]]
name = "copy"
bytes = "4 * R * D"

[[launch]]
entry = "add_copy"
zero = ["copy"]
params = [{ buffer = "a" }, { buffer = "copy" }, { name = "n", type = "u32", value = "R * D" }]
grid = ["ceildiv(R * D, 64)"]
block = ["64"]

[[launch]]
entry = "gelu"
params = [
  { buffer = "copy" }, { buffer = "b" }, { buffer = "out" },
  { name = "n", type = "u32", value = "R * D" }, { name = "D", type = "u32", value = "D" },
]
grid = ["ceildiv(R * D, 64)"]
block = ["64"]
`)},
		"gelu.cu":  {Data: []byte("x")},
		"gelu.ptx": {Data: []byte("// source-sha256: 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\n// options: --gpu-architecture=compute_75 --std=c++17\n.entry add_copy\n.entry gelu\n")},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

// addCopy gives the device the first of the two stages.
func addCopy(d *fakeDevice) {
	d.entries["add_copy"] = fakeEntry{[]uint8{pointer, pointer, scalar}, func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
		n := int(p[2].Bits)
		return d.with(p, []int{n, n}, threads(c, n), func(a []array) {
			for i := range n {
				a[1].set(i, a[1].f(i)+a[0].f(i)) // wrong unless zeroed before every operation
			}
		})
	}}
}

func TestSeveralLaunchesWithScratch(t *testing.T) {
	d := newFakeDevice()
	addCopy(d)
	test := small("gelu")
	in := test.inputs(t, 1)
	op := openCase(t, open(t, Options{Device: d}, twoStage(t)), test, in)
	test.passGate(t, op, in)
	if id := op.Identity(); id.Entry != "add_copy+gelu" || id.Grid != nil || id.Resources != nil || id.SpillLoad != nil {
		t.Errorf("identity = %+v", id)
	}
	if err := op.Close(); err != nil || len(d.memory) > 0 {
		t.Errorf("error %v, %d allocations left", err, len(d.memory))
	}
}

func TestSubmitAllocatesNothing(t *testing.T) {
	test := small("gelu")
	d := newFakeDevice()
	addCopy(d)
	stream := &fakeStream{device: d, drop: true}
	op := openCase(t, open(t, Options{Device: d, Stream: stream}, twoStage(t)), test, test.inputs(t, 1)).(*operation)
	if n := testing.AllocsPerRun(100, func() { _ = op.queue() }); n != 0 {
		t.Errorf("%v allocations per submitted operation", n)
	}
	if stream.count != 101*3 { // a warm-up run of AllocsPerRun; a fill and two launches each
		t.Errorf("%d submissions", stream.count)
	}
}
