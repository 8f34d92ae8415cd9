package agreement

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/kernels"
)

func open() (*simt.Device, gpu.Stream, error) {
	dev, err := simt.Open(simt.Options{})
	if err != nil {
		return nil, nil, err
	}
	s, err := dev.NewStream()
	return dev, s, err
}

func simulator(t *testing.T) (*simt.Device, gpu.Stream) {
	t.Helper()
	dev, s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return dev, s
}

// allKernels returns the built-in kernels and those of the examples.
func allKernels() ([]kernels.Kernel, error) {
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		return nil, err
	}
	more, err := kernels.Load(os.DirFS("../examples/kernels"), "examples/kernels")
	return append(ks, more...), err
}

func loaded(t *testing.T) []kernels.Kernel {
	t.Helper()
	ks, err := allKernels()
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

func TestProbesRunOnTheSimulator(t *testing.T) {
	dev, s := simulator(t)
	names := map[string]bool{}
	var outputs []Output
	for _, c := range ProbeCases() {
		o, err := c.Run(dev, s)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if names[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		outputs = append(outputs, o)
	}
	var b bytes.Buffer
	if err := WriteOutputs(&b, outputs); err != nil {
		t.Fatal(err)
	}
	back, err := ReadOutputs(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range outputs {
		outputs[i].Bytes = nil
	}
	if d := cmp.Diff(outputs, back); d != "" {
		t.Error(d)
	}
}

func TestProbesAreCompiledFromTheirSource(t *testing.T) {
	source, err := os.ReadFile("probes/probes.cu")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(source)
	if !bytes.Contains(probes, []byte("// source-sha256: "+hex.EncodeToString(sum[:])+"\n")) {
		t.Error("probes.ptx is of another probes.cu: go run ./agreement/probes/compile agreement/probes")
	}
}

// TestEveryKernelHasCases: none is left out of what the GPU is asked.
func TestEveryKernelHasCases(t *testing.T) {
	ks := loaded(t)
	cases, err := allCases("small", "medium")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if c.Set != "probe" {
			seen[c.Kernel] = true
		}
	}
	if want := len(ks) + 5; len(seen) != want {
		t.Errorf("cases of %d kernels, there are %d", len(seen), want)
	}
}
