package native

import (
	"errors"
	"strings"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/input"
	"mage/kernels"
	"mage/unavailable"
)

// fakeCompiler "compiles" to a text that declares the entries of the source.
type fakeCompiler struct {
	archs    []int
	fail     error
	compiled [][]string // options
}

func (c *fakeCompiler) Version() string                { return "13.0" }
func (c *fakeCompiler) SupportedArchs() ([]int, error) { return c.archs, nil }

func (c *fakeCompiler) Compile(name, source string, options []string) (cuda.Compiled, error) {
	c.compiled = append(c.compiled, options)
	if c.fail != nil {
		return cuda.Compiled{}, c.fail
	}
	out := cuda.Compiled{}
	code, log := "", ""
	for _, part := range strings.Split(source, "__global__ void ")[1:] {
		entry, _, _ := strings.Cut(part, "(")
		code += ".entry " + entry + "\n"
		log += "ptxas info    : Compiling entry function '" + entry + "' for 'sm_90'\n" +
			"ptxas info    : Function properties for " + entry + "\n" +
			"    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n" +
			"ptxas info    : Used 32 registers\n"
	}
	out.PTX, out.Log = []byte("ptx "+code), log
	if strings.HasPrefix(options[0], "--gpu-architecture=sm_") {
		out.CUBIN = []byte("cubin " + code)
	}
	return out, nil
}

func TestEveryBuiltinPassesTheGateOnTheFake(t *testing.T) {
	d := newFakeDevice()
	for _, name := range first {
		i := open(t, Options{Device: d}, builtinOf(t, name))
		for _, c := range contract.All() {
			for _, test := range casesOf(t, c, "small") {
				in := test.inputs(t, input.DefaultSeed)
				op := openCase(t, i, test, in)
				test.passGate(t, op, in)
				if err := op.Close(); err != nil {
					t.Error(err)
				}
				if err := op.Close(); err != nil {
					t.Errorf("closing twice: %v", err)
				}
			}
		}
	}
	if len(d.memory) > 0 || d.modules != 0 {
		t.Errorf("left behind: %d allocations, %d modules", len(d.memory), d.modules)
	}
}

func TestTheGateSeesAWrongKernel(t *testing.T) {
	d := newFakeDevice()
	right := d.entries["gelu"]
	d.entries["gelu"] = fakeEntry{right.sizes, func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
		p = append([]gpu.Arg(nil), p...)
		p[3] = gpu.Uint32(uint32(p[3].Bits) - 1) // the last element stays unwritten
		return right.run(d, c, p)
	}}
	test := small("gelu")
	in := test.inputs(t, 1)
	op := openCase(t, open(t, Options{Device: d}, builtin(t)), test, in)
	r, err := gate.Check(op, gate.Spec{Contract: test.contract, Dims: test.dims, Inputs: in,
		Reference: test.contract.Reference(test.dims, in), Stage: gate.Before})
	if err != nil || r.Passed {
		t.Errorf("passed = %v, error %v", r.Passed, err)
	}
}

func TestOpenChecksBeforeItAllocates(t *testing.T) {
	test := small("neighbor")
	good := test.inputs(t, 1)
	spoiled := contract.Tensors{}
	for name, tensor := range good {
		spoiled[name] = tensor.Clone()
	}
	spoiled["indices"].PutUint32s(append([]uint32{99}, spoiled["indices"].Uint32s()[1:]...))
	for name, try := range map[string]struct {
		dims contract.Dims
		in   contract.Tensors
	}{
		"negative dim":       {contract.Dims{"N": -1, "F": 9, "E": 23}, good},
		"missing dim":        {contract.Dims{"N": 7, "F": 9}, good},
		"missing input":      {test.dims, contract.Tensors{"a": good["a"]}},
		"index out of range": {test.dims, spoiled},
	} {
		d := newFakeDevice()
		compiler := &fakeCompiler{archs: []int{90}}
		_, err := open(t, Options{Device: d, Compiler: compiler}, builtin(t)).Open(test.contract, try.dims, try.in)
		var broken *contract.Error
		if !errors.As(err, &broken) {
			t.Errorf("%s: error = %v, want a *contract.Error", name, err)
		}
		if d.allocs > 0 || d.modules > 0 || len(compiler.compiled) > 0 {
			t.Errorf("%s: %d allocations, %d modules, %d compilations", name, d.allocs, d.modules, len(compiler.compiled))
		}
	}
}

func TestFailedOpenFreesEverything(t *testing.T) {
	test := small("neighbor")
	in := test.inputs(t, 1)
	for n := 1; ; n++ {
		d := newFakeDevice()
		d.failAt = n
		op, err := open(t, Options{Device: d}, builtin(t)).Open(test.contract, test.dims, in)
		if err == nil {
			if n != 6 { // four inputs, one output
				t.Errorf("%d allocations, want 5", n-1)
			}
			if err := op.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		if !errors.Is(err, errFakeMemory) || !strings.Contains(err.Error(), "cuda/first neighbor: allocating ") {
			t.Errorf("allocation %d: error = %v", n, err)
		}
		if len(d.memory) > 0 || d.modules != 0 {
			t.Errorf("allocation %d: left behind %d allocations, %d modules", n, len(d.memory), d.modules)
		}
	}

	// A launch that does not fit the compiled function.
	d := newFakeDevice()
	entry := d.entries["neighbor"]
	entry.sizes = entry.sizes[:6]
	d.entries["neighbor"] = entry
	if _, err := open(t, Options{Device: d}, builtin(t)).Open(test.contract, test.dims, in); err == nil || !strings.Contains(err.Error(), "binding neighbor") {
		t.Errorf("error = %v", err)
	}
	// An entry that the code does not have.
	delete(d.entries, "neighbor")
	if _, err := open(t, Options{Device: d}, builtin(t)).Open(test.contract, test.dims, in); err == nil || !strings.Contains(err.Error(), "finding entry neighbor") {
		t.Errorf("error = %v", err)
	}
	if len(d.memory) > 0 || d.modules != 0 {
		t.Errorf("left behind %d allocations, %d modules", len(d.memory), d.modules)
	}
}

func TestUnavailable(t *testing.T) {
	gelu, in := small("gelu"), small("gelu").inputs(t, 1)
	d := newFakeDevice()
	vector := open(t, Options{Device: d}, []kernels.Kernel{example(t)})
	if _, err := vector.Open(gelu.contract, gelu.dims, in); !isUnavailable(err, "a row is read in vectors of four") {
		t.Errorf("D = 257: %v", err)
	}
	matmul := small("matmul")
	if _, err := vector.Open(matmul.contract, matmul.dims, matmul.inputs(t, 1)); !isUnavailable(err, "no kernel for matmul") {
		t.Errorf("matmul: %v", err)
	}
	even := testCase{"", gelu.contract, contract.Dims{"R": 3, "D": 8}, "normal"}
	if _, err := vector.OpenVariant(even.contract, even.dims, even.inputs(t, 1), kernels.Values{"BLOCK": 64}); !isUnavailable(err, "-DBLOCK=64") {
		t.Errorf("another tunable without a compiler: %v", err)
	}
	if _, err := vector.OpenVariant(even.contract, even.dims, even.inputs(t, 1), kernels.Values{"BLOCK": 65}); err == nil || isUnavailable(err, "") {
		t.Errorf("a value that the tunable does not have: %v", err)
	}
	stale := builtin(t)
	for i := range stale {
		stale[i].SourceSHA256 = "changed"
	}
	if _, err := open(t, Options{Device: d}, stale).Open(gelu.contract, gelu.dims, in); !isUnavailable(err, "another version of gelu.cu") {
		t.Errorf("stale PTX: %v", err)
	}
	d.info.MaxThreadsPerBlock = 128
	if _, err := open(t, Options{Device: d}, builtin(t)).Open(gelu.contract, gelu.dims, in); !isUnavailable(err, "blocks of 256 threads") {
		t.Errorf("small device: %v", err)
	}
	if d.allocs > 0 {
		t.Errorf("%d allocations", d.allocs)
	}
}

func isUnavailable(err error, reason string) bool {
	u, ok := unavailable.As(err)
	return ok && strings.Contains(u.Reason, reason)
}

func TestCompilesOnceForTheDevice(t *testing.T) {
	test := small("gelu")
	in := test.inputs(t, 1)
	for _, want := range []struct {
		backend, capability string
		archs               []int
		option, kind        string
	}{
		{"cuda", "9.0", []int{75, 90, 120}, "--gpu-architecture=sm_90", "cubin"},
		{"cuda", "12.1", []int{75, 90, 120}, "--gpu-architecture=compute_120", "ptx"},
		{"simt", "9.0", []int{75, 90, 120}, "--gpu-architecture=compute_90", "ptx"},
	} {
		d := newFakeDevice()
		d.info.Backend, d.info.ComputeCapability = want.backend, want.capability
		compiler := &fakeCompiler{archs: want.archs}
		first := open(t, Options{Device: d, Compiler: compiler}, builtin(t))
		for range 2 {
			op := openCase(t, first, test, in)
			id := op.Identity()
			if id.BinaryKind != want.kind || id.Compiler != "NVRTC 13.0" || id.CompileMS <= 0 || id.LoadMS <= 0 {
				t.Errorf("identity = %+v", id)
			}
			if id.BinarySHA256 != hash(d.loaded[len(d.loaded)-1]) {
				t.Error("the hash is not of the code that was loaded")
			}
			if *id.SpillLoad != 12 || *id.SpillStor != 4 || id.Resources.Registers != 32 {
				t.Errorf("resources = %+v", id)
			}
			if id.Entry != "gelu" || *id.Grid != [3]uint32{4, 1, 1} || *id.Block != [3]uint32{256, 1, 1} || len(id.SourceSHA256) != 64 {
				t.Errorf("identity = %+v", id)
			}
			if err := op.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(compiler.compiled) != 1 || compiler.compiled[0][0] != want.option {
			t.Errorf("compiled with %v, want once with %s", compiler.compiled, want.option)
		}
	}

	d := newFakeDevice()
	d.info.ComputeCapability = "6.1"
	compiler := &fakeCompiler{archs: []int{75}}
	if _, err := open(t, Options{Device: d, Compiler: compiler}, builtin(t)).Open(test.contract, test.dims, in); !isUnavailable(err, "sm_61") {
		t.Errorf("old device: %v", err)
	}
}

// TestRustIsNeverCompiledHere has a compiler, which must not see the source.
func TestRustIsNeverCompiledHere(t *testing.T) {
	test := small("gelu")
	in := test.inputs(t, 1)
	compiler := &fakeCompiler{archs: []int{90}}
	ks := builtinOf(t, "rust/first")
	op := openCase(t, open(t, Options{Device: newFakeDevice(), Compiler: compiler}, ks), test, in)
	id := op.Identity()
	if len(compiler.compiled) > 0 || id.BinaryKind != "ptx" || !strings.HasPrefix(id.Compiler, "committed PTX, rustc 1.63.0 (LLVM ") {
		t.Errorf("compiled %d times; identity = %+v", len(compiler.compiled), id)
	}
	for i := range ks {
		ks[i].SourceSHA256 = "changed"
	}
	if _, err := open(t, Options{Device: newFakeDevice(), Compiler: compiler}, ks).Open(test.contract, test.dims, in); !isUnavailable(err, "another version of gelu.rs") {
		t.Errorf("stale PTX: %v", err)
	}
}

func TestCompileFailureIsTyped(t *testing.T) {
	d := newFakeDevice()
	compiler := &fakeCompiler{archs: []int{90}, fail: &cuda.CompileError{Name: "gelu.cu", Log: "gelu.cu(1): error"}}
	test := small("gelu")
	_, err := open(t, Options{Device: d, Compiler: compiler}, builtin(t)).Open(test.contract, test.dims, test.inputs(t, 1))
	var failed *cuda.CompileError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "kernels/cuda/first/gelu/kernel.toml: ") || d.allocs > 0 {
		t.Errorf("error = %v, %d allocations", err, d.allocs)
	}
}
