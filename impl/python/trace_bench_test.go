package python

import (
	"testing"

	"mage/contract"
	"mage/input"
	"mage/timing"
	"mage/unavailable"
)

// BenchmarkEagerAroundTrace shows what a trace leaves behind in a process of torch:
// the host time of submitting one eager operation before its first trace and after
// it. It is the reason for a tracer of its own. On a GPU alone.
func BenchmarkEagerAroundTrace(b *testing.B) {
	w := start(b, Options{Interpreter: torchPython(b), Device: "cuda:0", tracing: true}) // traces in itself
	i := w.implementation("torch/eager", nil)
	if err := w.Offers(i.name); err != nil {
		if u, ok := unavailable.As(err); ok {
			b.Skip("skipped: ", u)
		}
		b.Fatal(err)
	}
	op := caseOf(b, contract.GELU{}, contract.Dims{"R": 64, "D": 768}, "normal", input.DefaultSeed).open(b, i)
	measure := func(b *testing.B, kind timing.Kind, samples int) []float64 {
		r, err := op.Measure(timing.Request{Mode: timing.Mode{Kind: kind, N: 1}, Cache: timing.Hot, Warmup: 20, Samples: samples, MinSamples: samples})
		if err != nil {
			b.Fatal(err)
		}
		return r.Samples
	}
	submit := func(b *testing.B) {
		sum := 0.0
		for _, us := range measure(b, timing.Submit, b.N) {
			sum += us
		}
		b.ReportMetric(sum*1e3/float64(b.N), "submit-ns/op")
	}
	b.Run("before", submit)
	measure(b, timing.Kernel, 10)
	b.Run("after", submit)
}
