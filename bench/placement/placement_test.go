// Package placement asks whether the same kernel on the same data has the same
// time wherever its buffers lie. An A/A control is opened separately from its
// arm, so whatever placement costs is part of the resolution that it shows.
//
//	go test -bench . -benchtime 1x ./bench/placement
package placement

import (
	"fmt"
	"testing"

	"mage/contract"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
	"mage/kernels"
	"mage/stats"
	"mage/timing"
)

const (
	copies = 4
	rounds = 12
)

// BenchmarkPlacement opens the same operation several times and measures the
// copies in turn, twice: first as they are, then, to tell a slot in memory from
// the order of opening, after closing them and opening them behind a buffer that
// moves all of them. It logs each copy's time over the first copy's.
func BenchmarkPlacement(b *testing.B) {
	dev, err := cuda.Open(0)
	if err != nil {
		b.Skip(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		b.Fatal(err)
	}
	defer timer.Close()
	ks, err := kernels.Load(kernels.Builtin(), "built-in kernels")
	if err != nil {
		b.Fatal(err)
	}
	implementations, err := native.New(native.Options{Device: dev, Stream: stream, Timer: timer}, ks)
	if err != nil {
		b.Fatal(err)
	}
	// No sub-benchmarks: each would be a goroutine of its own, and a device belongs
	// to the one that opened it.
	for range b.N {
		for _, c := range contract.All() {
			for _, shift := range []int64{0, 3<<20 + 256} {
				ratios := measure(b, dev, implementations[0], c, shift)
				b.Logf("%-9s moved by %7d bytes: times over the first copy's:%s", c.Name(), shift, ratios)
			}
		}
	}
}

func measure(b *testing.B, dev gpu.Device, i impl.Implementation, c contract.Contract, shift int64) string {
	b.Helper()
	if shift > 0 {
		p, err := dev.Alloc(shift)
		if err != nil {
			b.Fatal(err)
		}
		defer dev.Free(p)
	}
	set, err := input.Generate(input.Case{Contract: c, Dims: c.Default(),
		Distribution: input.DefaultDistribution(c.Name()), Seed: input.DefaultSeed})
	if err != nil {
		b.Fatal(err)
	}
	var ops [copies]impl.Operation
	for n := range ops {
		if ops[n], err = i.Open(c, c.Default(), set.Tensors); err != nil {
			b.Fatal(err)
		}
		defer ops[n].Close()
	}
	var medians [copies][]float64
	for r := range rounds {
		for n := range ops {
			n = (n + r) % copies
			reading, err := ops[n].Measure(timing.Request{Mode: timing.Mode{Kind: timing.Graph, N: 100},
				Cache: timing.Hot, Samples: 20, MinSamples: 3, Warmup: 3, BudgetUS: 30e3})
			if err != nil {
				b.Fatal(err)
			}
			medians[n] = append(medians[n], stats.Median(reading.Samples))
		}
	}
	text := ""
	for n := range ops {
		cmp, err := stats.Paired(medians[n], medians[0], stats.Options{})
		if err != nil {
			b.Fatal(err)
		}
		text += fmt.Sprintf(" %.4f [%.4f, %.4f]", cmp.Ratio, cmp.Interval.Lo, cmp.Interval.Hi)
	}
	return text
}
