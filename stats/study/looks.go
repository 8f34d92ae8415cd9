package main

import (
	"fmt"
	"io"
	"math/rand/v2"

	"mage/stats"
	"mage/stats/internal/truth"
)

// looks measures the stopping rule, which looks after every round.
func looks(w io.Writer, repeats int) error {
	const least, most, margin = 5, 30, 0.02
	fmt.Fprintf(w, "### Stopping\n\nA look after every round from %d to %d, 5 %% error for all looks together, margin 2 %% (first row: none, the classical case). \"Naive\" stops at the first look whose 95 %% interval decides.\n", least, most)
	fmt.Fprintln(w, "\n| truth | noise | naive: false | rule: false | decided | rounds, mean |\n| --- | --- | ---: | ---: | ---: | ---: |")
	repeats = max(1, repeats/5) // up to 26 comparisons each
	rule, err := stats.NewSequential(stats.SequentialOptions{MinRounds: least, MaxRounds: most})
	if err != nil {
		return err
	}
	all := truth.Scenarios()
	for k, t := range []struct {
		name          string
		ratio, margin float64
	}{
		{"1, no margin (A/A)", 1, 0}, {"1", 1, margin}, {"1/1.02, the edge", 1 / (1 + margin), margin},
		{"0.98, just outside", 0.98, margin}, {"0.95, outside", 0.95, margin}, {"0.8, far outside", 0.8, margin},
	} {
		for _, s := range []truth.Scenario{all[0], all[2], all[3]} {
			rng := rand.New(rand.NewPCG(400, uint64(k)))
			var naive, wrong, decided, rounds int
			for i := range repeats {
				arm, base := s.Draw(rng, most, t.ratio)
				naiveDone := false
				for n := least; ; n++ {
					c, err := stats.Paired(arm[:n], base[:n], stats.Options{Margin: t.margin, Resamples: 500, Seed: uint64(i)})
					if err != nil {
						return err
					}
					if !naiveDone && c.Verdict != stats.Undecided {
						naiveDone = true
						naive += count(falseClaim(c.Verdict, t.ratio, t.margin))
					}
					look, err := rule.Look(n, c)
					if err != nil {
						return err
					}
					if look.Stop {
						rounds += n
						v := look.Rows[0].Verdict
						decided += count(v != stats.Undecided)
						wrong += count(falseClaim(v, t.ratio, t.margin))
						break
					}
				}
			}
			fmt.Fprintf(w, "| %s | %s | %s | **%s** | %s | %.1f |\n", t.name, s.Name, share(naive, repeats), share(wrong, repeats), percent(decided, repeats, 0), float64(rounds)/float64(repeats))
		}
	}
	fmt.Fprintln(w)
	return nil
}

// looksOfTable measures one row of a table under the stopping rule: the smallest
// levels that are ever asked for, where only the shape of the tail decides.
func looksOfTable(w io.Writer, repeats int) error {
	const least, most, rows = 5, 30, 20
	fmt.Fprintf(w, "### Stopping with a table\n\nA/A without a margin, looks from %d to %d as above, one of %d rows: 0.25 %% error are set aside for it.\n", least, most, rows)
	fmt.Fprintln(w, "\n| noise | false verdicts of the row |\n| --- | ---: |")
	rule, err := stats.NewSequential(stats.SequentialOptions{MinRounds: least, MaxRounds: most, Rows: rows})
	if err != nil {
		return err
	}
	for k, s := range truth.Scenarios() {
		if !s.Independent {
			continue
		}
		rng := rand.New(rand.NewPCG(450, uint64(k)))
		wrong := 0
		for i := range repeats {
			arm, base := s.Draw(rng, most, 1)
			for n := least; ; n++ {
				c, err := stats.Paired(arm[:n], base[:n], stats.Options{Resamples: 100, Seed: uint64(i)})
				if err != nil {
					return err
				}
				look, err := rule.Look(n, c)
				if err != nil {
					return err
				}
				if look.Stop {
					wrong += count(look.Open == 0)
					break
				}
			}
		}
		fmt.Fprintf(w, "| %s | %s |\n", s.Name, percent(wrong, repeats, 2))
	}
	fmt.Fprintln(w)
	return nil
}
