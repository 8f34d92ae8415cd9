package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/gpu/cuda"
	"mage/kernels"
)

// TestCommittedPTXIsCurrent needs no compiler: hash and options say whether the
// PTX belongs to the source beside it.
func TestCommittedPTXIsCurrent(t *testing.T) {
	for _, dir := range committed {
		for _, k := range load(t, dir) {
			if err := k.CheckPTX(k.Defaults()); err != nil {
				t.Errorf("%v: run go run ./kernels/ptxgen, or kernels/rust/build.sh", err)
			}
		}
	}
}

// TestCommittedPTXIsWhatNVRTCGenerates compiles again with the same compiler.
func TestCommittedPTXIsWhatNVRTCGenerates(t *testing.T) {
	compiler := nvrtc(t)
	compared := 0
	for _, dir := range committed {
		for _, k := range load(t, dir) {
			if k.Language() != kernels.CUDA {
				continue
			}
			if err := compareBytes(compiler, k); err != nil {
				t.Errorf("%s: %v", k.File, err)
			}
			if strings.HasPrefix(k.PTX.Compiler, compilerName(compiler.Version())) {
				compared++
			}
		}
	}
	if compared == 0 {
		t.Skipf("the committed PTX is of another release than NVRTC %s", compiler.Version())
	}
}

func TestGenerateThenCheckThenSpoil(t *testing.T) {
	nvrtc(t)
	dir := t.TempDir()
	copyKernel(t, "../cuda/first/gelu", dir)
	source, ptx := filepath.Join(dir, "gelu.cu"), filepath.Join(dir, "gelu.ptx")
	if err := run([]string{dir}, true); err == nil {
		t.Error("a kernel without PTX passes the check")
	}
	if err := run([]string{dir}, false); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{dir}, true); err != nil {
		t.Errorf("the check right after generating: %v", err)
	}

	generated := read(t, ptx)
	overwrite(t, ptx, bytes.Replace(generated, []byte("tanh.approx"), []byte("tanh.Approx"), 1))
	if err := run([]string{dir}, true); err == nil {
		t.Error("PTX edited by hand passes the check")
	}
	overwrite(t, ptx, generated)
	overwrite(t, source, append(read(t, source), "// changed\n"...))
	if err := run([]string{dir}, true); err == nil {
		t.Error("PTX of another source passes the check")
	}
}

func TestCheckWithoutCompilerFindsAChangedSource(t *testing.T) {
	t.Setenv("MAGE_NVRTC", filepath.Join(t.TempDir(), "none"))
	dir := t.TempDir()
	copyKernel(t, "../cuda/first/gelu", dir)
	overwrite(t, filepath.Join(dir, "gelu.ptx"), read(t, "../cuda/first/gelu/gelu.ptx"))
	if err := run([]string{dir}, true); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	source := filepath.Join(dir, "gelu.cu")
	overwrite(t, source, append(read(t, source), "// changed\n"...))
	if err := run([]string{dir}, true); err == nil {
		t.Error("PTX of another source passes the check")
	}
	if err := run([]string{dir}, false); err == nil {
		t.Error("generating without a compiler succeeds")
	}
}

// committed are the directories of which the PTX is in the repository.
var committed = []string{"..", "../../examples/kernels"}

func nvrtc(t *testing.T) *cuda.NVRTC {
	t.Helper()
	compiler, err := cuda.OpenNVRTC("")
	if err != nil {
		t.Skip(err)
	}
	return compiler
}

func load(t *testing.T, dir string) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(os.DirFS(dir), dir)
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

// copyKernel copies description and source, not the PTX.
func copyKernel(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{kernels.DescriptionName, "gelu.cu"} {
		overwrite(t, filepath.Join(to, name), read(t, filepath.Join(from, name)))
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
