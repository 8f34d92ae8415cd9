package gate_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mage/contract"
	"mage/gate"
	"mage/tensor"
)

func h32(n int) tensor.Tensor {
	return tensor.New(tensor.Spec{Name: "v", DType: tensor.F32, Shape: []int{n}})
}

// Whatever single element goes wrong, by more than the tolerance, in whatever
// contract and shape, is found, alone, at its place.
func TestAnySingleCorruptionIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(contract.All()).Draw(t, "contract")
		d := contract.Dims{}
		for _, n := range c.DimNames() {
			d[n] = rapid.IntRange(1, 20).Draw(t, n)
		}
		at := rapid.IntRange(0, c.Output(d).Len()-1).Draw(t, "at")
		factor := rapid.Float64Range(1.02, 1e6).Draw(t, "times the tolerance")
		sign := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "sign")
		special := rapid.SampledFrom([]float64{0, 0, 0, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "special")
		b := newBench(c, d, func(h *host) {
			ref := h.c.Reference(h.d, h.in)
			honest(h)
			v := ref[at] + sign*factor*1e-4*(1+math.Abs(ref[at]))
			if special != 0 {
				v = special
			}
			h.out().Float32s()[at] = float32(v)
		})
		r, err := gate.Check(b.host, b.spec(gate.Before))
		if err != nil {
			t.Fatal(err)
		}
		if r.Passed || len(r.Problems) != 1 || r.Problems[0].Count != 1 {
			t.Fatalf("%+v", r)
		}
		got := r.Problems[0].First[0].Index
		want := c.Output(d).Index(at)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("found at %v, want %v", got, want)
			}
		}
	})
}

// Any byte of a guard zone set to any value is found by one of the two poisons.
func TestAnyGuardByteIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, 2*gate.GuardBytes-1).Draw(t, "at")
		value := rapid.Byte().Draw(t, "value")
		b := newBench(contract.GELU{}, contract.Dims{"R": 2, "D": 3}, func(h *host) {
			honest(h)
			p := at
			if p >= gate.GuardBytes {
				p += h.out().Bytes()
			}
			h.mem[p] = value
		})
		r, err := gate.Check(b.host, b.spec(gate.Before))
		if err != nil || r.Passed {
			t.Fatalf("passed: %+v, %v", r, err)
		}
	})
}

// Any bit of any input flipped is found.
func TestAnyInputBitIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(contract.All()).Draw(t, "contract")
		d := c.Small()
		name := rapid.SampledFrom(c.Inputs(d)).Draw(t, "input").Name
		b := newBench(c, d, func(h *host) {
			honest(h)
			if h.runs == 1 {
				data := h.in[name].Data
				data[rapid.IntRange(0, len(data)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
		})
		r, err := gate.Check(b.host, b.spec(gate.Before))
		if err != nil || r.Passed || r.Problems[0].Kind != gate.InputModified || r.Problems[0].Buffer != name {
			t.Fatalf("%+v, %v", r, err)
		}
	})
}

func TestChallengeRestoresTheInputs(t *testing.T) {
	for _, compute := range []func(*host){honest, func(*host) {}} {
		b := newBench(contract.LayerNorm{}, contract.LayerNorm{}.Small(), compute)
		if _, err := gate.Check(b.host, b.spec(gate.Challenge)); err != nil {
			t.Fatal(err)
		}
		for n, x := range b.first {
			if string(b.in[n].Data) != string(x.Data) {
				t.Errorf("input %s is not what it was", n)
			}
		}
	}
}

func TestFailureIsTypedAndRetained(t *testing.T) {
	b := newBench(contract.Triangle{}, contract.Triangle{}.Small(), func(h *host) {
		v := h.correct()
		v[0], v[1], v[5], v[6] = 7, 7, 7, float32(math.Inf(1))
		put(h, v)
		h.in["b"].Data[0] ^= 1
	})
	r, err := gate.Check(b.host, b.spec(gate.Before))
	if err != nil {
		t.Fatal(err)
	}
	var f *gate.Failure
	if !errors.As(r.Err(), &f) || f.Stage != gate.Before || f.Seed != 1 || len(f.Problems) != 3 {
		t.Fatalf("%#v", r.Err())
	}
	for _, part := range []string{
		"gate before (seed 1) failed: output non-finite: 1 of 245 elements, first [0 1 1] = +Inf (want ",
		"output out of tolerance: 3 of 245 elements, first [0 0 0] = 7 (want ", "[0 0 1] = 7", "[0 1 0] = 7",
		"max abs error ", "; input b modified: 1 of 245 elements, first [0 0 0] = ",
	} {
		if !strings.Contains(f.Error(), part) {
			t.Errorf("%q does not contain %q", f, part)
		}
	}
	if strings.Contains(f.Error(), "\n") {
		t.Errorf("more than one line: %q", f)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back gate.Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.Err() == nil || back.Err().Error() != f.Error() {
		t.Errorf("read back: %v", back.Err())
	}
}

// broken wraps an honest host whose adapter, not whose kernel, is wrong.
type broken struct {
	*host
	fail string
	own  contract.Tensors
}

var errDevice = errors.New("CUDA_ERROR_ILLEGAL_ADDRESS")

func (b *broken) Poison(v byte) error {
	switch b.fail {
	case "poison":
		return errDevice
	case "lazy poison":
		return nil
	}
	return b.host.Poison(v)
}

func (b *broken) Run() error {
	if b.fail == "run" {
		return errDevice
	}
	return b.host.Run()
}

func (b *broken) Output() ([]byte, error) {
	if b.fail == "output" {
		return nil, errDevice
	}
	if b.fail == "short output" {
		return b.mem[1:], nil
	}
	return b.host.Output()
}

func (b *broken) Inputs() (contract.Tensors, error) {
	switch b.fail {
	case "inputs":
		return nil, errDevice
	case "missing input":
		in := clone(b.in)
		delete(in, "b")
		return in, nil
	case "shared input":
		return b.own, nil
	}
	return b.host.Inputs()
}

func (b *broken) SetInputs(in contract.Tensors) error {
	if b.fail == "set" {
		return errDevice
	}
	return b.host.SetInputs(in)
}

func TestSubjectsOwnFailuresAreErrors(t *testing.T) {
	for fail, want := range map[string]struct{ stage, says string }{
		"poison":        {gate.Before, "gate before: poisoning the output: CUDA_ERROR_ILLEGAL_ADDRESS"},
		"lazy poison":   {gate.Before, "left 8204 of 8204 bytes as they were"},
		"run":           {gate.Before, "gate before: running: CUDA_ERROR_ILLEGAL_ADDRESS"},
		"output":        {gate.LeftBehind, "reading the output"},
		"short output":  {gate.LeftBehind, "holds 8203 bytes, want 8204"},
		"inputs":        {gate.LeftBehind, "reading the inputs back"},
		"missing input": {gate.LeftBehind, "returned 0 bytes of input b, want 12"},
		"shared input":  {gate.LeftBehind, "caller's own input a"},
		"set":           {gate.Challenge, "writing fresh inputs: CUDA_ERROR_ILLEGAL_ADDRESS"},
	} {
		b := newBench(contract.GELU{}, contract.Dims{"R": 1, "D": 3}, honest)
		r, err := gate.Check(&broken{b.host, fail, b.first}, b.spec(want.stage))
		if err == nil || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v, want %q", fail, err, want.says)
		}
		if r.Passed {
			t.Errorf("%s: passed", fail)
		}
	}
}

// A subject that computes in place on the arrays it was given changes both
// sides of a comparison; the gate keeps its own copy.
func TestInPlaceOnTheCallersArraysIsFound(t *testing.T) {
	b := newBench(contract.GELU{}, contract.GELU{}.Small(), func(h *host) {
		honest(h)
		h.in["a"].Float32s()[0]++
	})
	b.host.in = b.first
	r, err := gate.Check(b.host, b.spec(gate.Before))
	if err != nil || r.Passed || r.Problems[0].Kind != gate.InputModified {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestImpossibleSpecsAreErrors(t *testing.T) {
	b := newBench(contract.GELU{}, contract.GELU{}.Small(), honest)
	for name, change := range map[string]func(*gate.Spec){
		"stage":     func(s *gate.Spec) { s.Stage = "after" },
		"reference": func(s *gate.Spec) { s.Reference = s.Reference[1:] },
		"dims":      func(s *gate.Spec) { s.Dims = contract.Dims{"R": 1} },
		"contract":  func(s *gate.Spec) { s.Contract = nil },
		"inputs":    func(s *gate.Spec) { s.Inputs = nil },
		"restore":   func(s *gate.Spec) { s.Stage = gate.Challenge },
	} {
		s := b.spec(gate.Before)
		change(&s)
		if _, err := gate.Check(b.host, s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// A reference that is not finite can accept nothing, and JSON can hold the result.
	for _, v := range []float64{math.Inf(1), math.NaN()} {
		s := b.spec(gate.Before)
		s.Reference[3] = v
		r, err := gate.Check(b.host, s)
		if err != nil || r.Passed {
			t.Errorf("reference %v: %+v, %v", v, r, err)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("reference %v: %v", v, err)
		}
	}
}
