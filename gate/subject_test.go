package gate_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/tensor"
)

// host is a Subject in host memory. Its compute function stands for a kernel:
// it may read and write everything a kernel could reach.
type host struct {
	c       contract.Contract
	d       contract.Dims
	in      contract.Tensors
	mem     []byte // guard zone, output, guard zone
	compute func(h *host)
	runs    int
}

func (h *host) SetInputs(in contract.Tensors) error {
	for n, t := range in {
		copy(h.in[n].Data, t.Data)
	}
	return nil
}

func (h *host) Poison(v byte) error {
	for i := range h.mem {
		h.mem[i] = v
	}
	return nil
}

func (h *host) Run() error {
	h.runs++
	h.compute(h)
	return nil
}

func (h *host) Output() ([]byte, error)           { return bytes.Clone(h.mem), nil }
func (h *host) Inputs() (contract.Tensors, error) { return clone(h.in), nil }

// out is the output as the kernel sees it: it shares memory.
func (h *host) out() tensor.Tensor {
	return tensor.Tensor{Spec: h.c.Output(h.d), Data: h.mem[gate.GuardBytes : len(h.mem)-gate.GuardBytes]}
}

// correct computes the contract from the inputs as they are.
func (h *host) correct() []float32 {
	ref := h.c.Reference(h.d, h.in)
	v := make([]float32, len(ref))
	for i, r := range ref {
		v[i] = float32(r)
	}
	return v
}

func honest(h *host) { h.out().PutFloat32s(h.correct()) }

func clone(in contract.Tensors) contract.Tensors {
	out := contract.Tensors{}
	for n, t := range in {
		out[n] = t.Clone()
	}
	return out
}

// inputs makes valid inputs: small values, and a graph whose row i holds the
// edges from i·E/N to (i+1)·E/N.
func inputs(c contract.Contract, d contract.Dims, seed uint64) contract.Tensors {
	rng := rand.New(rand.NewPCG(seed, 7))
	in := contract.Tensors{}
	for _, s := range c.Inputs(d) {
		t := tensor.New(s)
		for i := range s.Len() {
			switch s.Name {
			case "rowptr":
				t.Uint32s()[i] = uint32(i * d["E"] / d["N"])
			case "indices":
				t.Uint32s()[i] = uint32(rng.IntN(d["N"]))
			default:
				t.Float32s()[i] = float32(rng.NormFloat64() * 0.25)
			}
		}
		in[s.Name] = t
	}
	return in
}

// bench is one subject with what each stage needs.
type bench struct {
	*host
	first, fresh contract.Tensors
}

func newBench(c contract.Contract, d contract.Dims, compute func(*host)) bench {
	first := inputs(c, d, 1)
	return bench{
		host: &host{
			c: c, d: d, in: clone(first), compute: compute,
			mem: make([]byte, c.Output(d).Bytes()+2*gate.GuardBytes),
		},
		first: first, fresh: inputs(c, d, 2),
	}
}

func (b bench) spec(stage string) gate.Spec {
	s := gate.Spec{Contract: b.c, Dims: b.d, Inputs: b.first, Seed: 1, Stage: stage}
	if stage == gate.Challenge {
		s.Inputs, s.Restore, s.Seed = b.fresh, b.first, 2
	}
	s.Reference = b.c.Reference(b.d, s.Inputs)
	return s
}

// protocol takes the subject through all that surrounds one measurement, with
// five operations as the timed region, and returns every stage's result.
func (b bench) protocol(t *testing.T) map[string]gate.Result {
	t.Helper()
	results := map[string]gate.Result{}
	for _, stage := range []string{gate.Before, gate.LeftBehind, gate.Challenge} {
		if stage == gate.LeftBehind {
			if err := gate.Prepare(b.host); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if err := b.Run(); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, err := gate.Check(b.host, b.spec(stage))
		if err != nil {
			t.Fatal(err)
		}
		results[stage] = r
	}
	return results
}
