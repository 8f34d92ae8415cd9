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
	"mage/kernels/triton"
)

func simulator(t *testing.T) (*simt.Device, gpu.Stream) {
	t.Helper()
	dev, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return dev, s
}

// loaded returns the built-in kernels and those of the examples.
func loaded(t *testing.T) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	more, err := kernels.Load(os.DirFS("../examples/kernels"), "examples/kernels")
	if err != nil {
		t.Fatal(err)
	}
	return append(ks, more...)
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

func TestSmallCasesRunOnTheSimulator(t *testing.T) {
	dev, s := simulator(t)
	ks := loaded(t)
	cases, err := KernelCases(ks, "small", "edge")
	if err != nil {
		t.Fatal(err)
	}
	// The last needs rows of whole vectors, which no small shape has.
	medium, err := KernelCases(ks[len(ks)-1:], "medium")
	if err != nil {
		t.Fatal(err)
	}
	index, err := triton.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := TritonCases(index, "small")
	if err != nil {
		t.Fatal(err)
	}
	cases = append(append(cases, medium...), compiled...)
	kernelsSeen := map[string]bool{}
	for _, c := range cases {
		if _, err := c.Run(dev, s); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		kernelsSeen[c.Kernel] = true
	}
	if want := len(ks) + 5; len(kernelsSeen) != want {
		t.Errorf("cases of %d kernels, there are %d", len(kernelsSeen), want)
	}
}
