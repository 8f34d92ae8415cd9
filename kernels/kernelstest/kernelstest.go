// Package kernelstest writes directories of a user's own kernels, for tests that
// run them on the stand-in for the CUDA driver (gpu/cuda/cudatest).
package kernelstest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"mage/gpu/cuda/cudatest"
	"mage/kernels"
)

// Body is what a kernel of the gelu contract does.
type Body int

// The bodies: the contract, a copy of the input instead of it, and a copy that
// reads and writes far past the ends of its buffers, which faults.
const (
	Gelu Body = iota
	Copy
	Fault
)

func (b Body) launch() (entry, params string) {
	switch b {
	case Gelu:
		return "stub_gelu", `{ buffer = "a" }, { buffer = "b" }, { buffer = "out" },
  { name = "rows", type = "u32", value = "R" }, { name = "columns", type = "u32", value = "D" }`
	case Copy:
		return "stub_copy", `{ buffer = "out" }, { buffer = "a" }, { name = "n", type = "u32", value = "R * D" }`
	default:
		return "stub_copy", `{ buffer = "out" }, { buffer = "a" }, { name = "n", type = "u32", value = "R * D + 1000000" }`
	}
}

var version = regexp.MustCompile(`(?m)^\.version .*$`)

// Write makes the directory dir/<last part of implementation> with a description,
// a source, and PTX that belongs to the source and declares the stand-in's
// kernels. The PTX asks for version isa of the language; "" is one that every
// driver understands.
func Write(t testing.TB, dir, implementation string, body Body, isa string) {
	t.Helper()
	entry, params := body.launch()
	folder := filepath.Join(dir, filepath.Base(implementation))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(kernels.DescriptionName, []byte(`implementation = "`+implementation+`"
contract = "gelu"
precision = ["fp32"]
source = "gelu.cu"
hypothesis = "The stand-in computes `+entry+` by its name."

[[launch]]
entry = "`+entry+`"
params = [`+params+`]
grid = ["ceildiv(R * D, 256)"]
block = ["256"]
`))
	put("gelu.cu", []byte("// The stand-in does not read this.\n"))
	ks, err := kernels.Load(os.DirFS(folder), folder)
	if err != nil {
		t.Fatal(err)
	}
	code := cudatest.KernelsPTX
	if isa != "" {
		code = version.ReplaceAllString(code, ".version "+isa)
	}
	put(ks[0].PTXName(), ks[0].FormatPTX([]byte(code), "by hand"))
}
