package kernels_test

import (
	"os"
	"testing"

	"mage/gpu/cuda"
	"mage/kernels"
)

// TestKernelsCompile compiles every kernel with every choice of its tunables, and
// reports registers, shared memory and spills. No kernel of ours may spill.
func TestKernelsCompile(t *testing.T) {
	compiler, err := cuda.OpenNVRTC("")
	if err != nil {
		t.Skip(err)
	}
	architectures := []string{"sm_75", "sm_90"}
	if testing.Short() {
		architectures = architectures[1:]
	}
	for _, k := range committed(t) {
		if k.Language() != kernels.CUDA {
			continue // compiled ahead: kernels/rust
		}
		for v := range k.Space() {
			for _, arch := range architectures {
				options := append(k.CompileOptions(arch, v), "--ptxas-options=-v")
				compiled, err := compiler.Compile(k.SourceName, k.Source, options)
				if err != nil {
					t.Errorf("%s for %s with %v: %v", k.Name(), arch, v, err)
					continue
				}
				if len(compiled.CUBIN) == 0 {
					t.Errorf("%s for %s: no cubin", k.Name(), arch)
				}
				report := cuda.ParsePTXASInfo(compiled.Log)
				if len(report) == 0 {
					t.Errorf("%s for %s: no resource report in %q", k.Name(), arch, compiled.Log)
				}
				for _, r := range report {
					t.Logf("%s %s %s %v: %d registers, %d bytes shared, spills %d/%d bytes",
						k.Name(), r.Function, arch, v, r.Registers, r.SharedBytes, r.SpillStores, r.SpillLoads)
					if r.SpillStores+r.SpillLoads > 0 {
						t.Errorf("%s for %s with %v spills", k.Name(), arch, v)
					}
				}
			}
		}
	}
}

// committed returns the built-in kernels and those of the examples.
func committed(t *testing.T) []kernels.Kernel {
	t.Helper()
	ours, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := kernels.Load(os.DirFS("../examples/kernels"), "examples/kernels")
	if err != nil {
		t.Fatal(err)
	}
	all, err := kernels.Merge(ours, examples)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
