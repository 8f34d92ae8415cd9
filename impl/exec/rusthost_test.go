package exec

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu/cuda/cudatest"
	"mage/impl"
	"mage/input"
	"mage/timing"
)

// buildRustHost builds rust/host outside of the repository.
func buildRustHost(t *testing.T) Declaration {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a Rust program")
	}
	root := t.TempDir()
	for _, dir := range []string{"rust/host", "kernels/rust/first"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("../..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(filepath.Join(root, "rust"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := osexec.LookPath(all[0].Build[0]); err != nil {
		t.Skip(err)
	}
	return all[0]
}

// TestRustHostOnTheStandIn takes the real program through gate and timing with a
// stand-in for the driver, which computes gelu and tells no time worth keeping.
func TestRustHostOnTheStandIn(t *testing.T) {
	d := buildRustHost(t)
	driver := cudatest.BuildStub(t, "BUILTIN_GELU")
	c := contract.GELU{}
	set := generate(t, c, c.Small(), 1)
	i := New(testContext, Options{Env: []string{"MAGE_LIBCUDA=" + driver}}, []Declaration{d})[0].(*Implementation)
	op := openSet(t, i, set)
	b := bench{set: set, fresh: generate(t, c, c.Small(), 2), op: op.(*operation)}
	if id := op.Identity(); !strings.HasPrefix(id.Compiler, "rustc -O ") || id.CompileMS <= 0 {
		t.Errorf("identity = %+v", id)
	}
	for _, stage := range []string{gate.Before, gate.Challenge} {
		if _, err := b.check(stage); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []string{"span", "batch:10", "graph:5"} {
		if err := gate.Prepare(op); err != nil {
			t.Fatal(err)
		}
		r, err := op.Measure(request(t, mode))
		if err != nil || len(r.Samples) != 7 || r.Instrument != timing.CUDAEvent {
			t.Fatalf("%s: %+v, %v", mode, r, err)
		}
		if _, err := b.check(gate.LeftBehind); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}

	// The stand-in computes no layernorm: nothing is written, and that is seen.
	layernorm := generate(t, contract.LayerNorm{}, contract.LayerNorm{}.Small(), 1)
	b = bench{set: layernorm, op: openSet(t, i, layernorm).(*operation)}
	if _, err := b.check(gate.Before); err == nil || !strings.Contains(err.Error(), "output still poisoned") {
		t.Errorf("a kernel that writes nothing: %v", err)
	}

	i.options.Env = []string{"MAGE_LIBCUDA=/nonexistent/libcuda.so.1"}
	if err := op.Run(); !isUnavailable(err, "no CUDA driver") {
		t.Errorf("without a driver: %v", err)
	}
}

// TestRustHostRefuses runs the program by hand on what it must not accept.
func TestRustHostRefuses(t *testing.T) {
	d := buildRustHost(t)
	e, err := d.prepare(testContext)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, file, content string
		args                []string
		code                int
		says                string
	}{
		{"no input", "input.json", "", nil, 2, "input.json: "},
		{"bad JSON", "input.json", `{"op": "gelu",}`, nil, 2, "input.json: unexpected"},
		{"a repeated key", "input.json", `{"op": "gelu", "op": "gelu"}`, nil, 2, `the key "op" comes twice`},
		{"no such op", "input.json", `{"op": "x", "dims": {}, "warmup": 0, "iterations": 1}`, nil, 2, `unknown operation "x"`},
		{"a missing dim", "input.json", `{"op": "gelu", "dims": {"R": 3}, "warmup": 0, "iterations": 1}`, nil, 2, "lack D"},
		{"huge dims", "input.json", `{"op": "gelu", "dims": {"R": 65536, "D": 65536}, "warmup": 0, "iterations": 1}`, nil, 2, "32-bit"},
		{"a short file", "b.bin", "1234", nil, 2, "b.bin: it has 4 bytes, want 36"},
		{"a NaN", "b.bin", strings.Repeat("\xff", 36), nil, 2, "b.bin: element 0 is not finite"},
		{"an index outside", "indices.bin", strings.Repeat("\x07\x00\x00\x00", 9), nil, 2, "edge 0 has the source 7, of 3 rows"},
		{"falling rows", "rowptr.bin", "\x00\x00\x00\x00\x09\x00\x00\x00\x08\x00\x00\x00\x09\x00\x00\x00", nil, 2, "rowptr.bin: it does not rise from 0 to 9"},
		{"an unknown flag", "", "", []string{"--fast"}, 2, "unknown flag --fast"},
		{"no iterations", "", "", []string{"--iterations", "0"}, 2, "between 1 and 1000000"},
		{"batch without a mode", "", "", []string{"--batch", "5"}, 2, "--batch needs"},
		{"no driver", "", "", nil, 3, "no CUDA driver"},
	} {
		dir := t.TempDir()
		set := generate(t, contract.Neighbor{}, contract.Dims{"N": 3, "F": 2, "E": 9}, 1)
		if err := input.Write(dir, set, input.Meta{Iterations: 1}); err != nil {
			t.Fatal(err)
		}
		if c.file != "" {
			if err := os.Remove(filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
		}
		if c.content != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		log, err := run(testContext, job{path: e.path, args: append([]string{dir}, c.args...), dir: dir, deadline: soon,
			env: append(os.Environ(), "MAGE_LIBCUDA=/nonexistent/libcuda.so.1")})
		if code, _ := exitCode(err); code != c.code || !strings.Contains(log, c.says) {
			t.Errorf("%s: %v, %q; want code %d and %q", c.what, err, log, c.code, c.says)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "rust-*")); len(left) > 0 {
			t.Errorf("%s: it left %v", c.what, left)
		}
	}
}

func generate(t *testing.T, c contract.Contract, d contract.Dims, seed uint64) input.Set {
	t.Helper()
	set, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: input.DefaultDistribution(c.Name()), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func openSet(t *testing.T, i *Implementation, set input.Set) impl.Operation {
	t.Helper()
	op, err := i.Open(set.Contract, set.Dims, set.Tensors)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := op.Close(); err != nil {
			t.Error(err)
		}
	})
	return op
}
