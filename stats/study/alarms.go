package main

import (
	"fmt"
	"io"
	"math/rand/v2"

	"mage/stats"
	"mage/stats/internal/truth"
)

// alarms counts warnings where there is nothing to say, and where there is.
func alarms(w io.Writer, repeats int) error {
	sizes := []int{20, 100, 1000}
	fmt.Fprintln(w, "### Warnings about samples\n\nSets of samples that get the warning: drift / autocorrelation / bimodal.")
	fmt.Fprintln(w, "\n| samples are | n = 20 | n = 100 | n = 1000 |\n| --- | ---: | ---: | ---: |")
	for k, s := range append(truth.Unremarkable(), truth.Remarkable()...) {
		fmt.Fprintf(w, "| %s |", s.Name)
		for _, n := range sizes {
			rng := rand.New(rand.NewPCG(uint64(500+k), uint64(n)))
			times := map[stats.Code]int{}
			for range repeats {
				ws, err := stats.Inspect(s.Draw(rng, n), 0)
				if err != nil {
					return err
				}
				for _, x := range ws {
					times[x.Code]++
				}
			}
			fmt.Fprintf(w, " %s / %s / %s |", percent(times[stats.Drift], repeats, 2),
				percent(times[stats.Autocorrelation], repeats, 2), percent(times[stats.Bimodal], repeats, 2))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	return nil
}
