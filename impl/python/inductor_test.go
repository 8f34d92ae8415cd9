package python

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mage/gpu"
	"mage/impl/native"
	"mage/kernels"
	"mage/unavailable"
)

// What the worker exports becomes a plan for the driver; it is asked for once.
func TestKernelsOfAnOpenedOperation(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	var p native.Prepared
	for range 2 {
		var err error
		if p, err = w.Compiled("cheat/honest").Prepare(x.contract, x.dims); err != nil {
			t.Fatal(err)
		}
	}
	l := p.Plan.Launches[0]
	if string(p.Image) != "no cubin, but bytes" || p.Kind != "cubin" || p.CompileMS != 1.5 || p.Values["XBLOCK"] != 256 || len(p.Plan.Launches) != 1 {
		t.Errorf("%+v", p)
	}
	want := []kernels.Param{{Name: "a", Buffer: "a"}, {Name: "argument 1", Scalar: gpu.Int32(-7)}, {Name: "global_scratch", Scalar: gpu.Pointer(0)}, {Name: "out", Buffer: "out"}}
	if !slices.Equal(l.Params, want) || l.Entry != "kernel" || l.Config != (gpu.Config{Grid: [3]uint32{5, 1, 1}, Block: [3]uint32{64, 1, 1}, DynamicShared: 16}) {
		t.Errorf("%+v", l)
	}
	for range 2 {
		_, err := w.Compiled("cheat/library").Prepare(x.contract, x.dims)
		if u, ok := unavailable.As(err); !ok || u.Reason != "it calls a library" {
			t.Errorf("error %v", err)
		}
	}
	if _, err := w.Compiled("cheat/other").Prepare(x.contract, x.dims); err == nil || !strings.Contains(err.Error(), "not the one that was hashed") {
		t.Errorf("error %v", err)
	}
	eventually(t, "the log has arrived", func() bool { return strings.Contains(w.printed(), "exporting other") })
	for _, how := range []string{"honest", "library"} {
		if n := strings.Count(w.printed(), "exporting "+how); n != 1 {
			t.Errorf("%s was exported %d times", how, n)
		}
	}
}

// Kernels as Inductor has them, which Triton compiles without a GPU, in torch's
// own classes that launch them: only the driver's calls are stand-ins.
func TestKernelsOfInductor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeSource(dir, nil); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(torchPython(t), "testdata/inductor.py", dir)
	cmd.Env = append(os.Environ(), "TRITON_CACHE_DIR="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		problem, _ := err.(*exec.ExitError)
		t.Fatalf("%v\n%s", err, problem.Stderr)
	}
	var answers struct {
		Skip     string
		Exported map[string]Exported
		Lacks    map[string]string
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if answers.Skip != "" {
		t.Skip("skipped: ", answers.Skip)
	}
	if len(answers.Exported) != 2 {
		t.Errorf("exported %d kernels", len(answers.Exported))
	}
	for how, e := range answers.Exported {
		if err := e.check(how); err != nil {
			t.Error(err)
		}
		// x and one were both turned into constants, so none of the arguments.
		want := []ExportedArgument{{Name: "a", Buffer: true}, {Name: "out", Buffer: true}, {Name: "argument 2", Type: "i32", Value: 1000},
			{Name: "global_scratch", Null: true}, {Name: "profile_scratch", Null: true}}
		if !slices.Equal(e.Arguments, want) {
			t.Errorf("%s: arguments %+v", how, e.Arguments)
		}
		if e.Entry != "triton_poi_fused_0" || e.Grid != [3]uint32{4, 1, 1} || e.Block != [3]uint32{256, 1, 1} || e.Params["XBLOCK"] != 256 || e.Params["num_warps"] != 8 {
			t.Errorf("%s: %s %v %v %v", how, e.Entry, e.Grid, e.Block, e.Params)
		}
		if got := parameterBytes(t, e); got != 40 {
			t.Errorf("%s: its kernel takes %d bytes of parameters", how, got)
		}
	}
	want := map[string]string{
		"library":      "of the 3 steps of an operation 1 are kernels that inductor generated; the others are calls of libraries",
		"only library": "of the 2 steps of an operation 0 are kernels that inductor generated; the others are calls of libraries",
		"sequence":     "an operation is 2 kernels with intermediate results",
		"intermediate": "argument 1 of its kernel is neither an input nor the output",
		"untold":       "this torch does not tell what else an operation does",
		"no binary":    "its binary is not in Triton's cache",
		"cpu":          "what inductor generates for a CPU is no GPU kernel",
		"another":      "the kernel that runs is not the one that was identified",
	}
	if !maps.Equal(answers.Lacks, want) {
		t.Errorf("%v", answers.Lacks)
	}
}
