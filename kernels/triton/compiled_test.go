package triton

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"mage/contract"
)

func TestCompiledKernelsAreCurrent(t *testing.T) {
	index, err := Compiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contract.All() {
		src, err := Sources.ReadFile(c.Name() + ".py")
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(src); index.Sources[c.Name()] != hex.EncodeToString(sum[:]) {
			t.Errorf("the PTX of %s is of another source: go run ./kernels/triton/ptxgen", c.Name())
		}
		for _, d := range []contract.Dims{c.Default(), c.Small()} {
			if _, _, ok := index.Find(c.Name(), d); !ok {
				t.Errorf("no launch of %s at %s", c.Name(), d.Format(c.DimNames()))
			}
		}
	}
	entries, err := compiled.ReadDir("ptx")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(index.Kernels)+1 {
		t.Errorf("%d files, want the index and %d kernels", len(entries), len(index.Kernels))
	}
	used := map[int]bool{}
	for _, l := range index.Launches {
		used[l.Kernel] = true
		k := index.Kernels[l.Kernel]
		for name, v := range l.Scalars {
			want := "i32"
			if v%16 == 0 {
				want = "i32 divisible by 16"
			}
			if k.Specialisation[name] != want || !slices.Contains(k.Arguments, name) {
				t.Errorf("%s at %v: %s = %d, but the kernel is for %s", l.Contract, l.Dims, name, v, k.Specialisation[name])
			}
		}
	}
	for i, k := range index.Kernels {
		text, err := PTX(k)
		if err != nil {
			t.Fatal(err)
		}
		if !used[i] || k.File != k.FileName() || !bytes.Contains(text, []byte(".visible .entry "+k.Entry+"(")) {
			t.Errorf("%s: entry %s, used: %v", k.File, k.Entry, used[i])
		}
		if bytes.Contains(text, []byte(".loc")) || bytes.Contains(text, []byte(".file")) {
			t.Errorf("%s: line tables name files of the machine that compiled it", k.File)
		}
	}
}
