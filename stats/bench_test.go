package stats_test

import (
	"math/rand/v2"
	"testing"

	"mage/stats"
	"mage/stats/internal/truth"
)

// BenchmarkTable is a whole table: 200 rows of 30 rounds, 2000 resamples each.
func BenchmarkTable(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	arm, base := truth.Scenarios()[0].Draw(rng, 30, 0.97)
	for b.Loop() {
		rows := make([]stats.Comparison, 200)
		for i := range rows {
			var err error
			if rows[i], err = stats.Paired(arm, base, stats.Options{Margin: 0.02, Seed: uint64(i)}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := stats.DecideTable(rows, 0.05); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	x := truth.Unremarkable()[0].Draw(rand.New(rand.NewPCG(1, 1)), 1000)
	for b.Loop() {
		if _, err := stats.Inspect(x, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	x := truth.Unremarkable()[0].Draw(rand.New(rand.NewPCG(1, 1)), 1000)
	for b.Loop() {
		if _, err := stats.Summarize(x, 0.95); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewSequential(b *testing.B) {
	for b.Loop() {
		if _, err := stats.NewSequential(stats.SequentialOptions{MinRounds: 5, MaxRounds: 30, Rows: 60}); err != nil {
			b.Fatal(err)
		}
	}
}
