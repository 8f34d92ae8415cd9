package kernels

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mage/contract"
)

func builtins(t testing.TB) []Kernel {
	t.Helper()
	ks, err := Load(Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

func TestBuiltinFirstCoversEveryContract(t *testing.T) {
	ks := builtins(t)
	for _, c := range contract.All() {
		i := slices.IndexFunc(ks, func(k Kernel) bool { return k.Implementation == "cuda/first" && k.Supports(c) })
		if i < 0 {
			t.Errorf("cuda/first lacks %s", c.Name())
			continue
		}
		if want := "kernels/cuda/first/" + c.Name() + "/kernel.toml"; ks[i].File != want {
			t.Errorf("file = %s, want %s", ks[i].File, want)
		}
	}
}

// good is a description without faults; tests below spoil one line of it.
const good = `implementation = "cuda/mine"
contract = "gelu"
precision = ["fp32"]
source = "gelu.cu"
hypothesis = "It tests the loader."
constraints = ["BLOCK * VECTOR <= 1024"]

[[tunable]]
name = "BLOCK"
values = [64, 256, 1024]
default = 256

[[tunable]]
name = "VECTOR"
values = [1, 4]
default = 4

[[need]]
that = "D % VECTOR == 0"
because = "rows are read in vectors"

[[scratch]]
name = "partial"
bytes = "4 * R"

[[launch]]
entry = "first"
params = [
  { buffer = "a" },
  { buffer = "partial" },
  { name = "count", type = "u32", value = "R * D" },
]
zero = ["partial"]
grid = ["ceildiv(R * D, BLOCK * VECTOR)"]
block = ["BLOCK"]

[[launch]]
entry = "second"
params = [
  { buffer = "b" },
  { buffer = "out" },
  { name = "inverse", type = "f32", value = "1 / D" },
  { name = "half", type = "i64", value = "D / 2" },
]
grid = ["R / 4", "pow2(D)"]
block = ["32", "2"]
shared = "BLOCK * 4"
`

func load(t *testing.T, description string) ([]Kernel, error) {
	t.Helper()
	return Load(fstest.MapFS{
		"mine/gelu/kernel.toml": {Data: []byte(description)},
		"mine/gelu/gelu.cu":     {Data: []byte("// nothing\n")},
	}, "my")
}

func TestLoadNamesFileLineAndNearestName(t *testing.T) {
	if _, err := load(t, good); err != nil {
		t.Fatalf("the good description: %v", err)
	}
	tests := []struct {
		name, old, new string
		line           int
		want           string
	}{
		{"syntax", `precision = ["fp32"]`, `precision = ["fp32"`, 4, ""},
		{"unknown key", `source =`, `sorce =`, 4, `unknown key "sorce"; did you mean "source"?`},
		{"unknown table", `[[need]]`, `[[needs]]`, 18, `did you mean "need"?`},
		{"unknown key in the second launch", `shared =`, `sharde =`, 47, `unknown key "launch.sharde"; did you mean "shared"?`},
		{"unknown key in a parameter", `{ buffer = "b" }`, `{ bufer = "b" }`, 40, `did you mean "buffer"?`},
		{"wrong type", `default = 256`, `default = "256"`, 11, "integer"},
		{"wrong type in a list", `values = [1, 4]`, `values = [1, 4.5]`, 15, "integer"},
		{"contract", `contract = "gelu"`, `contract = "gleu"`, 2, `did you mean "gelu"?`},
		{"precision", `["fp32"]`, `["fp23"]`, 3, `did you mean "fp32"?`},
		{"implementation", `"cuda/mine"`, `"mine"`, 1, "want a family and a name"},
		{"source elsewhere", `"gelu.cu"`, `"../gelu.cu"`, 4, "in the same directory"},
		{"source in no known language", `"gelu.cu"`, `"gelu.py"`, 4, "a .cu or .rs file"},
		{"tunables of Rust", `"gelu.cu"`, `"gelu.rs"`, 8, "a Rust kernel takes no tunables"},
		{"source missing", `"gelu.cu"`, `"other.cu"`, 4, "file does not exist"},
		{"hypothesis", `hypothesis = "It tests the loader."`, ``, 1, "hypothesis is missing"},
		{"variable", `ceildiv(R * D`, `ceildiv(R * DD`, 34, "unknown name DD"},
		{"function", `pow2(D)`, `pow3(D)`, 45, `did you mean "pow2"?`},
		{"arity", `pow2(D)`, `pow2(D, 2)`, 45, "too many arguments"},
		{"boolean grid", `"R / 4"`, `"R > 4"`, 45, "expected int, but got bool"},
		{"fraction", `"R / 4"`, `"R * 0.25"`, 45, "whole number"},
		{"number as condition", `"D % VECTOR == 0"`, `"D % VECTOR"`, 19, "expected bool, but got int"},
		{"constraint on the shape", `"BLOCK * VECTOR <= 1024"`, `"BLOCK * VECTOR <= D"`, 6, "unknown name D"},
		{"defaults outside the constraints", `VECTOR <= 1024`, `VECTOR < 1024`, 6, "default values are not allowed"},
		{"default", `default = 4`, `default = 3`, 16, "not one of its values"},
		{"no values", `values = [1, 4]`, `values = []`, 13, "no values"},
		{"tunable named like a dimension", `name = "BLOCK"`, `name = "D"`, 9, "name of a dimension"},
		{"tunable twice", `name = "VECTOR"`, `name = "BLOCK"`, 14, "declared twice"},
		{"because", `because = "rows are read in vectors"`, ``, 18, "because is missing"},
		{"buffer", `{ buffer = "b" }`, `{ buffer = "bias" }`, 40, `unknown buffer "bias"`},
		{"scratch named like an input", `name = "partial"`, `name = "b"`, 23, `already a buffer "b"`},
		{"zeroed input", `zero = ["partial"]`, `zero = ["a"]`, 33, "is an input"},
		{"scalar type", `type = "i64"`, `type = "int"`, 43, `unknown type "int"`},
		{"half a scalar", `{ name = "count", type = "u32", value = "R * D" }`, `{ name = "count" }`, 31, "parameter 3"},
		{"buffer with a value", `{ buffer = "out" }`, `{ buffer = "out", value = "1" }`, 41, "takes no name"},
		{"four dimensions", `["BLOCK"]`, `["BLOCK", "1", "1", "1"]`, 35, "want one to three"},
		{"entry", `entry = "second"`, `entry = "second<4>"`, 38, "extern \"C\""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spoiled := strings.Replace(good, test.old, test.new, 1)
			if spoiled == good {
				t.Fatalf("the description does not hold %q", test.old)
			}
			ks, err := load(t, spoiled)
			var located *Error
			if !errors.As(err, &located) {
				t.Fatalf("got %d kernels and error %v, want an *Error", len(ks), err)
			}
			if located.File != "my/mine/gelu/kernel.toml" || located.Line != test.line || !strings.Contains(located.Problem, test.want) {
				t.Errorf("got  %v\nwant my/mine/gelu/kernel.toml:%d: …%s…", err, test.line, test.want)
			}
		})
	}
}

func TestOneBadKernelHidesNoOther(t *testing.T) {
	ks, err := Load(fstest.MapFS{
		"a/kernel.toml":  {Data: []byte(strings.Replace(good, "source =", "sorce =", 1))},
		"b/kernel.toml":  {Data: []byte(good)},
		"b/gelu.cu":      {Data: []byte("// nothing\n")},
		"c/kernel.toml":  {Data: []byte(strings.Replace(good, `"R / 4"`, `"Q / 4"`, 1))},
		"d/kernel.toml":  {Data: []byte(good)},
		"d/gelu.cu":      {Data: []byte("// nothing\n")},
		".e/kernel.toml": {Data: []byte("hidden")},
	}, "")
	if len(ks) != 1 || ks[0].File != "b/kernel.toml" {
		t.Errorf("got %d kernels", len(ks))
	}
	for _, want := range []string{"a/kernel.toml:4: ", "c/kernel.toml:45: ", "d/kernel.toml:1: cuda/mine gelu is already described by b/kernel.toml"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestLoadOfNothingIsAnError(t *testing.T) {
	if _, err := Load(fstest.MapFS{"readme": {}}, "my"); err == nil || !strings.Contains(err.Error(), "no kernel in my") {
		t.Errorf("error = %v", err)
	}
	_, err := Load(os.DirFS(filepath.Join(t.TempDir(), "none")), "my")
	if err == nil || err.Error() != "reading kernels in my: no such file or directory" {
		t.Errorf("error = %v", err)
	}
}

// What stands in the place of a kernel's file is looked at before it is read.
func TestLoadReadsOnlyWhatAKernelConsistsOf(t *testing.T) {
	for _, name := range []string{"gelu.cu", "gelu.ptx", DescriptionName} {
		for want, spoil := range map[string]func(path string) error{
			"regular file": func(path string) error { return os.Mkdir(path, 0o755) },
			"at most": func(path string) error {
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					return err
				}
				return os.Truncate(path, maxFileBytes+1) // a file with a hole: no disk is filled
			},
		} {
			if name == DescriptionName && want == "regular file" {
				continue // a directory of that name is any other directory
			}
			dir := t.TempDir()
			for file, text := range map[string]string{DescriptionName: good, "gelu.cu": "// nothing\n"} {
				if file != name {
					if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := spoil(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			_, err := Load(os.DirFS(dir), "my")
			if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
		}
	}
}

func TestMergeRefusesTheSameKernelTwice(t *testing.T) {
	ks := builtins(t)
	if _, err := Merge(ks, ks[:1]); err == nil || !strings.Contains(err.Error(), "already described") {
		t.Errorf("error = %v", err)
	}
	mine, err := load(t, good)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Merge(ks, mine); err != nil || len(all) != len(ks)+1 {
		t.Errorf("merged %d kernels, error %v", len(all), err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(good)
	for _, k := range builtins(f) {
		text, err := builtin.ReadFile(strings.TrimPrefix(k.File, "kernels/"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("launch = 3")
	f.Add("[launch]\nparams = [1, { buffer = 2 }]")
	f.Fuzz(func(t *testing.T, text string) {
		ks, err := Load(fstest.MapFS{"kernel.toml": {Data: []byte(text)}, "gelu.cu": {}}, "my")
		if err == nil && len(ks) != 1 {
			t.Errorf("%d kernels and no error", len(ks))
		}
		for _, k := range ks {
			c, err := contract.Find(k.Contract, k.Precisions[0])
			if err != nil {
				t.Fatal(err)
			}
			_, _ = k.Plan(c.Small(), k.Defaults()) // may fail, must not panic
		}
	})
}

func BenchmarkLoadBuiltin(b *testing.B) {
	for b.Loop() {
		if _, err := Load(Builtin(), "kernels"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	ks := builtins(b)
	d, v := contract.Dims{"R": 4096, "D": 768}, ks[0].Defaults()
	for b.Loop() {
		if _, err := ks[0].Plan(d, v); err != nil {
			b.Fatal(err)
		}
	}
}
