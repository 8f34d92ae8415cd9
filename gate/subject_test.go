package gate_test

import (
	"bytes"
	"math"
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

// stage is one step of the protocol around a measurement.
type stage struct {
	name  string
	decoy bool
}

// protocol is all that surrounds the measurement of one subject: two timed
// regions, of which the second is prepared with the decoy.
var protocol = []stage{{gate.Before, false}, {gate.LeftBehind, false}, {gate.LeftBehind, true}, {gate.Challenge, false}}

// follow takes the subject through the protocol, with five operations as each
// timed region, until a stage fails. It returns that stage's result, or the last.
func (b bench) follow(t *testing.T) gate.Result {
	t.Helper()
	var r gate.Result
	for _, s := range protocol {
		spec := b.spec(s.name)
		if s.name == gate.LeftBehind {
			prepare := gate.Prepare
			if spec.Decoy = s.decoy; s.decoy {
				prepare = gate.PrepareDecoy
			}
			if err := prepare(b.host); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if err := b.Run(); err != nil {
					t.Fatal(err)
				}
			}
		}
		var err error
		if r, err = gate.Check(b.host, spec); err != nil {
			t.Fatal(err)
		}
		if !r.Passed {
			break
		}
		if r.Checked != b.c.Output(b.d).Len() || r.MaxAbsError > 1e-6*(1+largest(spec.Reference)) || r.Err() != nil {
			t.Errorf("%s: %+v", s.name, r)
		}
	}
	return r
}

func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}
