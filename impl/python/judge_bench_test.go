package python

import (
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/input"
	"mage/unavailable"
)

// BenchmarkJudge is what judging one region costs: a poisoned output, one
// operation, and both output and inputs back and compared. B/s counts the bytes
// that are compared. On a GPU torch/eager has the worker find memory for its
// result as well.
func BenchmarkJudge(b *testing.B) {
	for _, device := range []string{"cpu", "cuda:0"} {
		w := start(b, Options{Interpreter: torchPython(b), Device: device})
		for _, name := range []string{"torch/eager-out", "torch/eager"} {
			for _, d := range []contract.Dims{{"R": 64, "D": 768}, {"R": 4096, "D": 768}, {"R": 16384, "D": 4096}} {
				b.Run(device+"/"+name+"/"+d.Format([]string{"R", "D"}), func(b *testing.B) { benchmarkJudge(b, w.implementation(name, nil), d) })
			}
		}
	}
}

func benchmarkJudge(b *testing.B, i *Implementation, d contract.Dims) {
	if err := i.worker.Offers(i.name); err != nil {
		if u, ok := unavailable.As(err); ok {
			b.Skip("skipped: ", u)
		}
		b.Fatal(err)
	}
	x := caseOf(b, contract.GELU{}, d, "normal", input.DefaultSeed)
	op := x.open(b, i)
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
			b.Fatal(r.Failure, err)
		}
	}
}
