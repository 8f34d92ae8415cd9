package gate_test

import (
	"testing"

	"mage/contract"
	"mage/gate"
)

// BenchmarkLeftBehind measures the comparison of one output, its guard zones and
// inputs included, in elements per second. The subject hands out its memory as
// it is, so that no copy is counted.
func BenchmarkLeftBehind(b *testing.B) {
	c := contract.GELU{}
	d := c.Default()
	x := newBench(c, d, honest)
	if err := gate.Prepare(x.host); err != nil {
		b.Fatal(err)
	}
	if err := x.Run(); err != nil {
		b.Fatal(err)
	}
	spec := x.spec(gate.LeftBehind)
	s := uncopied{x.host}
	b.ResetTimer()
	for b.Loop() {
		r, err := gate.Check(s, spec)
		if err != nil || !r.Passed {
			b.Fatal(r.Failure, err)
		}
	}
	b.ReportMetric(float64(c.Output(d).Len())*float64(b.N)/b.Elapsed().Seconds(), "elements/s")
}

// uncopied hands out its own memory.
type uncopied struct{ *host }

func (s uncopied) Output() ([]byte, error)           { return s.mem, nil }
func (s uncopied) Inputs() (contract.Tensors, error) { return s.in, nil }
