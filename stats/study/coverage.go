package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mage/stats"
	"mage/stats/internal/truth"
)

const resamples = 1000 // half of the default: the tables hardly change, the time does

// coverage compares intervals: how often each holds the truth, and what the
// shipped one costs in width against Student's on the mean.
func coverage(w io.Writer, repeats int) error {
	fmt.Fprintln(w, "### Coverage of the interval\n\nNominal 95 %. The last two columns are the shipped interval at the 99.75 % that a table of 20 rows asks of each, and its mean width at 95 % over that of Student's interval of the mean. Where only the arm is skewed, that mean is not the pseudo-median that is called the truth here.")
	fmt.Fprintln(w, "\n| noise | rounds | Student, mean | BCa, plain | shipped | shipped at 99.75 % | width |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	const ratio = 0.97
	for k, s := range truth.Scenarios() {
		for _, n := range []int{5, 8, 10, 15, 20, 30} {
			rng := rand.New(rand.NewPCG(uint64(k), uint64(n)))
			var student, plain, shipped, far int
			var width, reference float64
			for i := range repeats {
				arm, base := s.Draw(rng, n, ratio)
				c, err := stats.Paired(arm, base, stats.Options{Resamples: resamples, Seed: uint64(i)})
				if err != nil {
					return err
				}
				t := studentMean(arm, base)
				student += count(t.Contains(ratio))
				plain += count(c.BCa.Contains(ratio))
				shipped += count(c.Interval.Contains(ratio))
				far += count(c.At(0.9975).Contains(ratio))
				width += math.Log(c.Interval.Hi / c.Interval.Lo)
				reference += math.Log(t.Hi / t.Lo)
			}
			fmt.Fprintf(w, "| %s | %d | %s | %s | **%s** | %s | %.2f |\n", s.Name, n,
				share(student, repeats), share(plain, repeats), share(shipped, repeats), percent(far, repeats, 2), width/reference)
		}
	}
	fmt.Fprintln(w)
	return nil
}

// studentMean is the usual interval of the mean log-ratio.
func studentMean(arm, base []float64) stats.Interval {
	d, err := stats.LogRatios(arm, base)
	if err != nil {
		return stats.Interval{}
	}
	mean, sd := stat.MeanStdDev(d, nil)
	n := float64(len(d))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
	return stats.Interval{Lo: math.Exp(mean - t), Hi: math.Exp(mean + t), Confidence: 0.95}
}

// verdicts counts false claims and decided comparisons around the margin.
func verdicts(w io.Writer, repeats int) error {
	const rounds, margin = 10, 0.02
	fmt.Fprintf(w, "### Verdicts\n\n%d rounds, margin 2 %%, 95 %% confidence. First number: false verdicts. Second: decided ones.\n", rounds)
	fmt.Fprintln(w, "At the edge \"equivalent\" is true and \"faster\" is false; just outside it, the other way round.")
	truths := []struct {
		name  string
		ratio float64
		right stats.Verdict
	}{
		{"1", 1, stats.Equivalent},
		{"0.99, inside", 0.99, stats.Equivalent},
		{"1/1.02, the edge", 1 / (1 + margin), stats.Equivalent},
		{"0.98, just outside", 0.98, stats.Faster},
		{"0.95, outside", 0.95, stats.Faster},
	}
	fmt.Fprint(w, "\n| noise |")
	for _, t := range truths {
		fmt.Fprintf(w, " %s |", t.name)
	}
	fmt.Fprintln(w, "\n| --- |"+" ---: | ---: | ---: | ---: | ---: |")
	for k, s := range truth.Scenarios() {
		fmt.Fprintf(w, "| %s |", s.Name)
		for j, t := range truths {
			rng := rand.New(rand.NewPCG(uint64(100+k), uint64(j)))
			wrong, decided := 0, 0
			for i := range repeats {
				arm, base := s.Draw(rng, rounds, t.ratio)
				c, err := stats.Paired(arm, base, stats.Options{Margin: margin, Resamples: resamples, Seed: uint64(i)})
				if err != nil {
					return err
				}
				decided += count(c.Verdict != stats.Undecided)
				wrong += count(c.Verdict != stats.Undecided && c.Verdict != t.right)
			}
			fmt.Fprintf(w, " %s, %s |", share(wrong, repeats), percent(decided, repeats, 0))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	return nil
}

// resolution shows what an A/A control of so many rounds can tell from nothing.
func resolution(w io.Writer, repeats int) error {
	fmt.Fprintln(w, "### Resolution from the A/A control\n\nEffect (median over experiments) and share of controls that are told from themselves, 5 % nominal. Noise 1 % a round.")
	fmt.Fprintln(w, "\n| rounds | normal: effect | false positives | heavy tails: effect | false positives |\n| ---: | ---: | ---: | ---: | ---: |")
	all := truth.Scenarios()
	for _, n := range []int{5, 10, 20, 30} {
		fmt.Fprintf(w, "| %d |", n)
		for _, s := range []truth.Scenario{all[0], all[2]} {
			rng := rand.New(rand.NewPCG(200, uint64(n)))
			var effects []float64
			differ := 0
			for i := range repeats {
				arm, base := s.Draw(rng, n, 1)
				r, err := stats.NewResolution(arm, base, 0, stats.Options{Resamples: resamples, Seed: uint64(i)})
				if err != nil {
					return err
				}
				effects = append(effects, r.Effect)
				differ += r.FalsePositives
			}
			fmt.Fprintf(w, " %.2f %% | %s |", 100*stats.Median(effects), share(differ, repeats))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	return nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func share(k, n int) string { return percent(k, n, 1) }

func percent(k, n, digits int) string {
	return fmt.Sprintf("%.*f %%", digits, 100*float64(k)/float64(n))
}
