package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"mage/stats"
	"mage/stats/internal/truth"
)

const tableRows = 20

// tables measures the probability of any false verdict in a table of rows that
// share one baseline, with and without the correction.
func tables(w io.Writer, repeats int) error {
	const rounds, margin, alpha = 12, 0.02, 0.05
	edge := 1 / (1 + margin)
	mixes := []struct {
		name  string
		ratio func(row int) float64
	}{
		{"all equal to the baseline", func(int) float64 { return 1 }},
		{"all on an edge", func(row int) float64 { return []float64{edge, 1 + margin}[row%2] }},
		{"all just outside", func(row int) float64 { return []float64{edge * 0.9999, (1 + margin) * 1.0001}[row%2] }},
		{"from 5 % faster to 5 % slower", func(row int) float64 { return math.Exp(0.05 * (2*float64(row)/(tableRows-1) - 1)) }},
		{"half far away, half on an edge", func(row int) float64 { return []float64{0.5, edge}[row%2] }},
	}
	fmt.Fprintf(w, "### Tables\n\n%d rows of %d rounds that share their baseline, margin 2 %%, error 5 %% for the whole table. Tables with any false verdict; share of the rows decided.\n", tableRows, rounds)
	fmt.Fprintln(w, "\n| truth | noise | uncorrected: any false | corrected: any false | decided |\n| --- | --- | ---: | ---: | ---: |")
	repeats = max(1, repeats/5) // twenty comparisons each
	all := truth.Scenarios()
	for m, mix := range mixes {
		for _, s := range []truth.Scenario{all[0], all[2], all[3]} {
			rng := rand.New(rand.NewPCG(300, uint64(m)))
			var plain, corrected, decided int
			for i := range repeats {
				rows := make([]stats.Comparison, tableRows)
				anyPlain := false
				_, base := s.Draw(rng, rounds, 1)
				for r := range rows {
					arm, _ := s.Draw(rng, rounds, mix.ratio(r))
					c, err := stats.Paired(arm, base, stats.Options{Margin: margin, Resamples: 500, Seed: uint64(i)})
					if err != nil {
						return err
					}
					rows[r] = c
					anyPlain = anyPlain || falseClaim(c.Verdict, mix.ratio(r), margin)
				}
				judged, err := stats.DecideTable(rows, alpha)
				if err != nil {
					return err
				}
				anyFalse := false
				for r, j := range judged {
					anyFalse = anyFalse || falseClaim(j.Verdict, mix.ratio(r), margin)
					decided += count(j.Verdict != stats.Undecided)
				}
				plain += count(anyPlain)
				corrected += count(anyFalse)
			}
			fmt.Fprintf(w, "| %s | %s | %s | **%s** | %s |\n", mix.name, s.Name, share(plain, repeats), share(corrected, repeats), percent(decided, repeats*tableRows, 0))
		}
	}
	fmt.Fprintln(w)
	return nil
}

// falseClaim compares a verdict with the true ratio.
func falseClaim(v stats.Verdict, ratio, margin float64) bool {
	lo, hi := 1/(1+margin), 1+margin
	switch v {
	case stats.Faster:
		return ratio >= lo
	case stats.Slower:
		return ratio <= hi
	case stats.Equivalent:
		return ratio < lo || ratio > hi
	}
	return false
}
