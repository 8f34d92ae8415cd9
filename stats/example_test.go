package stats_test

import (
	"fmt"

	"mage/stats"
)

// Two arms, ten rounds each, medians in µs: the verdict against a margin of 2 %.
func ExamplePaired() {
	arm := []float64{6.21, 6.25, 6.24, 6.28, 6.22, 6.26, 6.30, 6.23, 6.25, 6.27}
	base := []float64{12.80, 12.83, 12.79, 12.95, 12.81, 12.84, 12.99, 12.78, 12.82, 12.86}
	c, err := stats.Paired(arm, base, stats.Options{Margin: 0.02, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ratio %.3f [%.3f, %.3f]: %s\n", c.Ratio, c.Interval.Lo, c.Interval.Hi, c.Verdict)
	// Output: ratio 0.486 [0.485, 0.488]: faster
}

// The control tells what the machine can resolve; what lies below it is called
// indistinguishable, however narrow the interval.
func ExampleNewResolution() {
	first := []float64{12.80, 12.95, 12.70, 12.85, 12.90, 12.75, 12.82, 12.88}
	second := []float64{12.85, 12.80, 12.84, 12.77, 12.83, 12.86, 12.81, 12.79}
	arm := []float64{12.83, 12.78, 12.81, 12.75, 12.80, 12.83, 12.79, 12.76}
	aa, err := stats.NewResolution(first, second, 0, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := stats.Paired(arm, second, stats.Options{Margin: 0.001, Resolution: aa.Effect})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("resolution %.1f %%, ratio %.4f: %s\n", 100*aa.Effect, c.Ratio, c.Verdict)
	for _, w := range c.Warnings {
		fmt.Println(w)
	}
	// Output:
	// resolution 0.9 %, ratio 0.9981: equivalent
	// below-resolution: the difference of 0.19 % is indistinguishable: this machine resolves 0.91 %
}

// The stopping rule is declared before the first round and asked after each.
func ExampleSequential() {
	arm := []float64{9.02, 9.05, 8.97, 9.01, 9.03, 8.99, 9.04, 9.00}
	base := []float64{10.01, 10.03, 9.98, 10.02, 10.00, 9.97, 10.04, 9.99}
	rule, err := stats.NewSequential(stats.SequentialOptions{MinRounds: 5, MaxRounds: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	for round := 1; round <= len(arm); round++ {
		if !rule.Planned(round) {
			continue
		}
		c, err := stats.Paired(arm[:round], base[:round], stats.Options{Margin: 0.02})
		if err != nil {
			fmt.Println(err)
			return
		}
		look, err := rule.Look(round, c)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(look.Reason)
		if look.Stop {
			break
		}
	}
	// Output: every comparison is decided after 5 rounds
}
