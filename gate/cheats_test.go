package gate_test

import (
	"math"
	"strings"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/input"
)

// cheat is a kernel that looks fast and is wrong. Each stays here for ever: the
// gate must reject it, at the stage and in the words given.
type cheat struct {
	name    string
	stage   string // the first stage that notices
	says    string
	compute func() func(*host)
}

// stateless wraps a cheat that keeps nothing between runs.
func stateless(f func(*host)) func() func(*host) { return func() func(*host) { return f } }

func put(h *host, v []float32) { h.out().PutFloat32s(v) }

// poke writes bytes at an offset from the output's first byte, as a kernel with
// a wrong index does.
func poke(h *host, offset int, b ...byte) { copy(h.mem[gate.GuardBytes+offset:], b) }

var cheats = []cheat{
	{"output left unwritten", gate.Before, "output still poisoned: 323 of 323 elements, first [0 0] (want ", stateless(func(*host) {})},
	{"one element left unwritten", gate.Before, "output still poisoned: 1 of 323 elements, first [16 18]", stateless(func(h *host) {
		v := h.correct()
		copy(h.out().Float32s(), v[:len(v)-1])
	})},
	{"rows left unwritten", gate.Before, "output still poisoned: 152 of 323 elements, first [9 0]", stateless(func(h *host) {
		v := h.correct()
		copy(h.out().Float32s(), v[:9*19])
	})},
	{"output of zeros", gate.Before, "out of tolerance", stateless(func(h *host) { put(h, make([]float32, 323)) })},
	{"written past its end", gate.Before, "guard zone after the output overwritten: 4 of 4096 bytes, first byte +0", stateless(func(h *host) {
		honest(h)
		poke(h, 323*4, 0, 0, 0, 0)
	})},
	{"written before its start", gate.Before, "guard zone before the output overwritten: 1 of 4096 bytes, first byte -1", stateless(func(h *host) {
		honest(h)
		poke(h, -1, 0)
	})},
	{"written far past its end", gate.Before, "first byte +4095", stateless(func(h *host) {
		honest(h)
		poke(h, 323*4+4095, 0)
	})},
	{"NaN written past its end, equal to the poison", gate.Before, "guard zone after", stateless(func(h *host) {
		honest(h)
		poke(h, 323*4, 0xFF, 0xFF, 0xFF, 0xFF)
	})},
	{"huge value written past its end, equal to the poison", gate.Before, "guard zone after", stateless(func(h *host) {
		honest(h)
		poke(h, 323*4, 0x7F, 0x7F, 0x7F, 0x7F)
	})},
	{"shifted by one element", gate.Before, "guard zone after", stateless(func(h *host) {
		copy(h.mem[gate.GuardBytes+4:], floatBytes(h.correct()))
	})},
	{"NaN where the reference is finite", gate.Before, "output non-finite: 1 of 323 elements, first [2 4] = NaN", stateless(func(h *host) {
		v := h.correct()
		v[2*19+4] = float32(math.NaN())
		put(h, v)
	})},
	{"infinity where the reference is finite", gate.Before, "= -Inf", stateless(func(h *host) {
		v := h.correct()
		v[7] = float32(math.Inf(-1))
		put(h, v)
	})},
	{"poison written as a result", gate.Before, "output still poisoned: 1 of 323", stateless(func(h *host) {
		v := h.correct()
		v[0] = math.Float32frombits(0xFFFFFFFF)
		put(h, v)
	})},
	{"one element just out of tolerance", gate.Before, "output out of tolerance: 1 of 323", stateless(func(h *host) {
		v := h.correct()
		v[100] += float32(1.01e-4 * (1 + math.Abs(float64(v[100]))))
		put(h, v)
	})},
	{"last term of the sum dropped", gate.Before, "out of tolerance", stateless(func(h *host) {
		saved := clone(h.in)
		for i := range 17 {
			h.in["a"].Float32s()[i*23+22] = 0
		}
		v := h.correct()
		h.in = saved
		put(h, v)
	})},
	{"accumulates into what is there", gate.Before, "still poisoned", stateless(func(h *host) {
		o := h.out().Float32s()
		for i, v := range h.correct() {
			o[i] += v
		}
	})},
	{"input modified", gate.Before, "input b modified: 1 of 437 elements, first [0 3]", stateless(func(h *host) {
		honest(h)
		h.in["b"].Float32s()[3] = 0
	})},
	{"sign of an input's zero modified", gate.Before, "input a modified: 1 of 391", stateless(func(h *host) {
		honest(h)
		h.in["a"].Data[3] ^= 0x80
	})},
	{"input used as scratch, output restored", gate.Before, "input a modified: 323 of 391", stateless(func(h *host) {
		v := h.correct()
		copy(h.in["a"].Float32s(), v)
		put(h, h.in["a"].Float32s()[:len(v)])
	})},
	{"correct only for the first seed", gate.Challenge, "out of tolerance", func() func(*host) {
		var known []float32
		return func(h *host) {
			if known == nil { // stands for a table compiled in
				known = h.correct()
			}
			put(h, known)
		}
	}},
	{"result cached from the gate run", gate.Challenge, "out of tolerance", func() func(*host) {
		var cached []float32
		return func(h *host) {
			if h.runs <= 2 { // the two runs of the gate
				cached = h.correct()
			}
			put(h, cached)
		}
	}},
	{"inputs captured when prepared", gate.Challenge, "out of tolerance", func() func(*host) {
		var packed contract.Tensors
		return func(h *host) {
			if packed == nil { // a repacked copy made once
				packed = clone(h.in)
			}
			current := h.in
			h.in = packed
			v := h.correct()
			h.in = current
			put(h, v)
		}
	}},
	{"correct only on the first run", gate.Before, "output still poisoned: 323 of 323", stateless(func(h *host) {
		if h.runs == 1 {
			honest(h)
		}
	})},
	{"works in the gate only", gate.LeftBehind, "output still poisoned: 323 of 323 elements, first [0 0] (want ", stateless(func(h *host) {
		if h.runs <= 2 {
			honest(h)
		}
	})},
	{"works less in the timed region", gate.LeftBehind, "out of tolerance", stateless(func(h *host) {
		v := h.correct()
		if h.runs > 2 {
			for i := range v[:19] {
				v[i] = 0
			}
		}
		put(h, v)
	})},
	{"writes past its end in the timed region only", gate.LeftBehind, "guard zone after", stateless(func(h *host) {
		honest(h)
		if h.runs == 4 {
			poke(h, 323*4, 1)
		}
	})},
	{"computes only when it sees a poison", gate.LeftBehind, "still poisoned: 323 of 323", stateless(func(h *host) {
		if v := h.out().Float32s()[0]; v != v || v > 1e30 {
			honest(h)
		}
	})},
	{"modifies an input in the timed region only", gate.LeftBehind, "input a modified", stateless(func(h *host) {
		honest(h)
		if h.runs == 6 {
			h.in["a"].Data[0]++
		}
	})},
}

func floatBytes(v []float32) []byte {
	t := h32(len(v))
	t.PutFloat32s(v)
	return t.Data
}

func TestCheatsAreRejected(t *testing.T) {
	for _, c := range cheats {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(contract.Matmul{}, contract.Matmul{}.Small(), c.compute())
			if strings.HasPrefix(c.name, "sign") {
				for _, in := range []contract.Tensors{b.first, b.in} {
					in["a"].Float32s()[0] = 0
				}
			}
			r := b.follow(t)
			if r.Passed || r.Stage != c.stage {
				t.Fatalf("%s: passed %v: %s", r.Stage, r.Passed, r.Failure)
			}
			if !strings.Contains(r.Failure, c.says) {
				t.Fatalf("failure %q does not say %q", r.Failure, c.says)
			}
		})
	}
}

// The cheats prove something only because an honest subject passes everywhere.
func TestHonestSubjectPasses(t *testing.T) {
	for _, c := range contract.All() {
		for _, family := range []string{"small", "tails"} {
			shapes, err := contract.Shapes(c, family)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range shapes {
				if r := newBench(c, d, honest).follow(t); !r.Passed {
					t.Errorf("%s %v %s: %s", c.Name(), d, r.Stage, r.Failure)
				}
			}
		}
		for _, e := range contract.EdgeCases(c) {
			b := newBench(c, e.Dims, honest)
			for seed, in := range map[uint64]*contract.Tensors{1: &b.first, 2: &b.fresh} {
				set, err := input.Generate(input.Case{Contract: c, Dims: e.Dims, Distribution: e.Distribution, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				*in = set.Tensors
			}
			b.in = clone(b.first)
			if r := b.follow(t); !r.Passed {
				t.Errorf("%s, %s, %s: %s", c.Name(), e.Name, r.Stage, r.Failure)
			}
		}
	}
}
