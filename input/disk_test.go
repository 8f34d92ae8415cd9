package input_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/contract"
	"mage/input"
	"mage/tensor"
)

var meta = input.Meta{Warmup: 3, Iterations: 20, Variant: "vector"}

// sameContract compares contracts by identity: they hold no state.
var sameContract = cmp.Comparer(func(a, b contract.Contract) bool { return a == b })

// written returns a directory with the set of a small case.
func written(t testing.TB, name, distribution string) (string, input.Set) {
	t.Helper()
	c := find(t, name)
	set := generate(t, c, c.Small(), distribution, input.DefaultSeed)
	dir := filepath.Join(t.TempDir(), "set")
	if err := input.Write(dir, set, meta); err != nil {
		t.Fatal(err)
	}
	return dir, set
}

func TestRoundTrip(t *testing.T) {
	for _, c := range contract.All() {
		for _, distribution := range input.Distributions(c.Name()) {
			dir, set := written(t, c.Name(), distribution)
			got, m, err := input.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(set, got, sameContract); diff != "" || m != meta {
				t.Errorf("%s %s: meta %+v, set differs: %s", c.Name(), distribution, m, diff)
			}
			files, _ := os.ReadDir(dir)
			if len(files) != len(set.Tensors)+2 {
				t.Errorf("%s: %d files", c.Name(), len(files))
			}
		}
	}
}

func TestNoEdges(t *testing.T) {
	set := generate(t, find(t, "neighbor"), contract.Dims{"N": 3, "F": 2, "E": 0}, "", 1)
	dir := t.TempDir()
	if err := input.Write(dir, set, meta); err != nil {
		t.Fatal(err)
	}
	if _, _, err := input.Load(dir); err != nil {
		t.Error(err)
	}
}

// The keys are an agreement with programs that already exist.
func TestDescriptionKeys(t *testing.T) {
	dir, set := written(t, "gelu", "normal")
	var d, h map[string]any
	for name, v := range map[string]*map[string]any{"input.json": &d, "inputs.sha256.json": &h} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatal(err)
		}
	}
	wantDescription := map[string]any{
		"op": "gelu", "dims": map[string]any{"R": 3.0, "D": 257.0}, "warmup": 3.0, "iterations": 20.0, "variant": "vector",
	}
	wantHashes := map[string]any{
		"seed": float64(input.DefaultSeed), "sha256": map[string]any{"a.bin": set.SHA256["a"], "b.bin": set.SHA256["b"]},
	}
	if diff := cmp.Diff(wantDescription, d) + cmp.Diff(wantHashes, h); diff != "" {
		t.Error(diff)
	}
}

func TestWriteTwice(t *testing.T) {
	dir, set := written(t, "layernorm", "")
	if err := os.WriteFile(filepath.Join(dir, "rust-output.bin"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := input.Write(dir, set, meta); err != nil {
		t.Errorf("the same set again: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "b.bin")); err != nil {
		t.Fatal(err)
	}
	if err := input.Write(dir, set, meta); err != nil {
		t.Errorf("completing the set: %v", err)
	}
	if _, _, err := input.Load(dir); err != nil {
		t.Error(err)
	}
	var file *input.FileError
	other := generate(t, set.Contract, set.Dims, "", 1)
	if err := input.Write(dir, other, meta); !errors.As(err, &file) {
		t.Errorf("another set in the same directory: %v", err)
	}
	if err := input.Write(dir, set, input.Meta{Iterations: 1}); !errors.As(err, &file) || file.File != "input.json" {
		t.Errorf("another meta in the same directory: %v", err)
	}
	if got, _, err := input.Load(dir); err != nil || !cmp.Equal(got, set, sameContract) {
		t.Errorf("a refused write changed the set: %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	set := generate(t, find(t, "gelu"), contract.Dims{"R": 1, "D": 2}, "", 1)
	for _, m := range []input.Meta{{Warmup: -1, Iterations: 1}, {}} {
		if err := input.Write(t.TempDir(), set, m); err == nil {
			t.Errorf("meta %+v was written", m)
		}
	}
	set.Tensors["a"].PutFloat32s([]float32{1, float32(math.Inf(1))})
	dir := filepath.Join(t.TempDir(), "set")
	if err := input.Write(dir, set, meta); err == nil {
		t.Error("an infinite input was written")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a refused write left a directory")
	}
}

func TestLoadRefuses(t *testing.T) {
	replace := func(file, old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), old) {
				t.Fatalf("%s does not hold %q:\n%s", file, old, text)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(file string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// rewrite changes a buffer and its hash: intact files that break the contract.
	rewrite := func(name string, change func(tensor.Tensor)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			set, _, err := input.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			change(set.Tensors[name])
			file := name + ".bin"
			if err := os.WriteFile(filepath.Join(dir, file), set.Tensors[name].Data, 0o644); err != nil {
				t.Fatal(err)
			}
			replace("inputs.sha256.json", set.SHA256[name], set.Tensors[name].SHA256())(t, dir)
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  string // part of the error
	}{
		{"no input.json", remove("input.json"), "input.json: the file is missing"},
		{"no hashes", remove("inputs.sha256.json"), "inputs.sha256.json: the file is missing"},
		{"no buffer", remove("b.bin"), "b.bin: the file is missing"},
		{"unknown op", replace("input.json", `"neighbor"`, `"neighbour"`), `did you mean "neighbor"`},
		{"missing op", replace("input.json", `"op": "neighbor",`, ``), `"op" is missing`},
		{"missing dims", replace("input.json", `"F": 9,`, ``), "dim F is missing"},
		{"huge dims", replace("input.json", `"F": 9`, `"F": 2000000000`), "input.json: neighbor: a would hold 7×2000000000"},
		{"fractional dims", replace("input.json", `"F": 9`, `"F": 9.5`), "input.json"},
		{"other length", replace("input.json", `"F": 9`, `"F": 8`), "a.bin: it has 252 bytes, want 224"},
		{"unknown key", replace("input.json", `"warmup"`, `"seed": 1, "warmup"`), `unknown key "seed"`},
		{"other capitals", replace("input.json", `"warmup"`, `"Warmup"`), `"warmup" is missing`},
		{"repeated key", replace("input.json", `"warmup"`, `"op": "gelu", "warmup"`), `key "op" comes twice`},
		{"null", replace("input.json", `"warmup": 3`, `"warmup": null`), "null"},
		{"trailing text", replace("input.json", "\"vector\"\n}", "\"vector\"\n} {}"), "input.json"},
		{"no iterations", replace("input.json", `"iterations": 20`, `"iterations": 0`), `"iterations" 0`},
		{"negative seed", replace("inputs.sha256.json", `"seed": `, `"seed": -`), "inputs.sha256.json"},
		{"unknown distribution", replace("inputs.sha256.json", `"seed"`, `"distribution": "unifrom", "seed"`), `did you mean "uniform"`},
		{"unknown precision", replace("inputs.sha256.json", `"seed"`, `"precision": "fp33", "seed"`), "fp32"},
		{"missing hash", replace("inputs.sha256.json", `"b.bin"`, `"d.bin"`), "the hash of b.bin is missing"},
		{"extra hash", replace("inputs.sha256.json", `"b.bin"`, `"d.bin": "", "b.bin"`), "5 hashes"},
		{"not finite", rewrite("b", func(t tensor.Tensor) {
			v := t.Float32s()
			v[2] = float32(math.NaN())
			t.PutFloat32s(v)
		}), "input b[2] is NaN"},
		{"rows fall", rewrite("rowptr", func(t tensor.Tensor) {
			v := t.Uint32s()
			v[1] = 23
			t.PutUint32s(v)
		}), "rowptr"},
		{"index outside", rewrite("indices", func(t tensor.Tensor) {
			v := t.Uint32s()
			v[5] = 7
			t.PutUint32s(v)
		}), "indices[5] = 7"},
		{"directory for a file", func(t *testing.T, dir string) {
			remove("a.bin")(t, dir)
			if err := os.Mkdir(filepath.Join(dir, "a.bin"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "a.bin: it is not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := written(t, "neighbor", "")
			c.spoil(t, dir)
			_, _, err := input.Load(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), dir) {
				t.Errorf("the error names the directory: %v", err)
			}
		})
	}
}

// Every single flipped byte is reported with the file and both hashes.
func TestFlippedByte(t *testing.T) {
	dir, set := written(t, "neighbor", "")
	for _, name := range set.Tensors.Names() {
		path := filepath.Join(dir, name+".bin")
		for _, at := range []int{0, len(set.Tensors[name].Data) - 1} {
			data := append([]byte(nil), set.Tensors[name].Data...)
			data[at] ^= 0x10
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			_, _, err := input.Load(dir)
			var file *input.FileError
			now := hash(data)
			if !errors.As(err, &file) || file.File != name+".bin" ||
				!strings.Contains(err.Error(), now) || !strings.Contains(err.Error(), set.SHA256[name]) {
				t.Errorf("%s byte %d: %v", name, at, err)
			}
		}
		if err := os.WriteFile(path, set.Tensors[name].Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func hash(data []byte) string { return tensor.Tensor{Data: data}.SHA256() }

// Load must answer anything with a set that its contract accepts, or an error.
func FuzzLoad(f *testing.F) {
	names := []string{"input.json", "inputs.sha256.json", "a.bin", "b.bin", "c.bin", "rowptr.bin", "indices.bin"}
	for _, op := range []string{"neighbor", "layernorm"} {
		dir, _ := written(f, op, "")
		seed := make([][]byte, len(names))
		for i, n := range names {
			seed[i], _ = os.ReadFile(filepath.Join(dir, n))
		}
		f.Add(op == "neighbor", seed[0], seed[1], seed[2], seed[3], seed[4], seed[5], seed[6])
	}
	f.Add(true, []byte(`{"op":"gelu","dims":{"R":1,"D":1},"warmup":0,"iterations":1}`),
		[]byte(`{"seed":1,"sha256":{"a.bin":"","b.bin":""}}`), []byte("abcd"), []byte("efgh"), []byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, honest bool, d, h, a, b, c, rowptr, indices []byte) {
		dir := t.TempDir()
		if honest { // hashes that match, so that the checks behind them are reached
			h = []byte(fmt.Sprintf(`{"seed":1,"sha256":{"a.bin":%q,"b.bin":%q,"rowptr.bin":%q,"indices.bin":%q}}`,
				hash(a), hash(b), hash(rowptr), hash(indices)))
		}
		for i, data := range [][]byte{d, h, a, b, c, rowptr, indices} {
			if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		set, m, err := input.Load(dir)
		if err != nil {
			return
		}
		if err := set.Contract.CheckInputs(set.Dims, set.Tensors); err != nil {
			t.Errorf("loaded inputs that break their contract: %v", err)
		}
		if err := input.Write(filepath.Join(dir, "copy"), set, m); err != nil {
			t.Errorf("a loaded set cannot be written: %v", err)
		}
	})
}
