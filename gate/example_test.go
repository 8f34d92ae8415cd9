package gate_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"mage/contract"
	"mage/gate"
)

// A product whose blocks never reach the last row, and whose last thread writes
// one element too many.
func ExampleCheck() {
	c := contract.Matmul{}
	s := newBench(c, c.Small(), func(h *host) {
		v := h.correct()
		copy(h.out().Float32s(), v[:16*19])
		poke(h, len(v)*4, 0, 0, 0, 0)
	})
	r, err := gate.Check(s.host, s.spec(gate.Before))
	fmt.Println("could be checked:", err == nil)
	var f *gate.Failure
	if errors.As(r.Err(), &f) {
		for _, p := range f.Problems {
			fmt.Println(p.Kind, "·", p.Count, "of", p.Total)
		}
	}
	// Output:
	// could be checked: true
	// still poisoned · 19 of 323
	// guard zone after the output overwritten · 4 of 4096
}

// The failures that docs/contracts.md explains are what the gate really says.
func TestFailuresOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../docs/contracts.md")
	if err != nil {
		t.Fatal(err)
	}
	fixed := func(compute func(h *host)) string {
		c := contract.GELU{}
		b := newBench(c, contract.Dims{"R": 2, "D": 3}, compute)
		for i := range 6 { // round numbers to read
			b.first["a"].Float32s()[i] = float32(i) - 2
		}
		for i := range 3 {
			b.first["b"].Float32s()[i] = 0.5
		}
		b.host.in = clone(b.first)
		r, err := gate.Check(b.host, b.spec(gate.Before))
		if err != nil {
			t.Fatal(err)
		}
		return r.Failure
	}
	for name, compute := range map[string]func(h *host){
		"last row missing": func(h *host) { copy(h.out().Float32s(), h.correct()[:3]) },
		"no bias": func(h *host) {
			saved := clone(h.in)
			for i := range 3 {
				h.in["b"].Float32s()[i] = 0
			}
			v := h.correct()
			h.in = saved
			put(h, v)
		},
		"one past the end": func(h *host) { honest(h); poke(h, 24, 0, 0, 0, 0) },
		"scratch input":    func(h *host) { honest(h); h.in["a"].Float32s()[4] = 0 },
		"division by zero": func(h *host) {
			honest(h)
			zero := float32(0)
			h.out().Float32s()[2] = 1 / zero
		},
	} {
		if line := fixed(compute); !strings.Contains(string(guide), line+"\n") {
			t.Errorf("%s: docs/contracts.md lacks\n%s", name, line)
		}
	}
}
