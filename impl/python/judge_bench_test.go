package python

import (
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/input"
)

// BenchmarkJudge is what judging one region costs: a poisoned output, one
// operation, and both output and inputs back and compared. B/s counts the bytes
// that are compared.
func BenchmarkJudge(b *testing.B) {
	w := start(b, Options{Interpreter: torchPython(b), Device: "cpu"})
	for _, d := range []contract.Dims{{"R": 64, "D": 768}, {"R": 4096, "D": 768}, {"R": 16384, "D": 4096}} {
		b.Run(d.Format([]string{"R", "D"}), func(b *testing.B) {
			x := caseOf(b, contract.GELU{}, d, "normal", input.DefaultSeed)
			op := x.open(b, w.implementation("torch/eager-out", nil))
			defer op.Close()
			spec := x.spec(gate.LeftBehind)
			b.SetBytes(int64(4 * (2*d["R"]*d["D"] + d["D"])))
			for b.Loop() {
				if err := gate.Prepare(op); err != nil {
					b.Fatal(err)
				}
				if err := op.Run(); err != nil {
					b.Fatal(err)
				}
				if r, err := gate.Check(op, spec); err != nil || !r.Passed {
					b.Fatal(r, err)
				}
			}
		})
	}
}
