package agreement

import (
	"fmt"
	"strconv"
	"strings"

	"mage/gpu"
	"mage/gpu/simt"
)

// Count runs the case on a simulator and returns the values of the pairs, by the
// metric that they stand for, and of instructions.
func (c Case) Count(dev *simt.Device, s gpu.Stream) (Counted, Output, error) {
	dev.ResetCounters()
	o, err := c.Run(dev, s)
	if err != nil {
		return Counted{}, o, err
	}
	all := Counted{Case: c.Name, Metrics: map[string]int64{}}
	counters := dev.Counters()
	for _, p := range append(Pairs(), Instructions()) {
		all.Metrics[p.Metric] = p.Of(counters)
	}
	return all, o, nil
}

// Instructions pairs executed warp instructions, which agree in kind only: the
// simulator's are of PTX, those of a GPU of its machine code.
func Instructions() Pair {
	return Pair{"warp instructions", "smsp__inst_executed.sum", func(c simt.Counters) int64 { return c.Instructions.Total() }}
}

// Difference is a pair of which the simulator and the GPU say different things.
type Difference struct {
	Case      string
	Pair      Pair
	Here, GPU int64
}

// Compare returns where the pairs differ, in the order of the GPU's cases. A
// metric that was not collected, and a case that was not simulated, is passed over.
func Compare(here, onGPU []Counted) []Difference {
	index := map[string]Counted{}
	for _, c := range here {
		index[c.Case] = c
	}
	var all []Difference
	for _, g := range onGPU {
		h, ok := index[g.Case]
		if !ok {
			continue
		}
		for _, p := range Pairs() {
			a, known := h.Metrics[p.Metric]
			b, counted := g.Metrics[p.Metric]
			if known && counted && a != b {
				all = append(all, Difference{g.Case, p, a, b})
			}
		}
	}
	return all
}

// Table is the comparison as Markdown: a row per case whose name has none of the
// prefixes, a column per pair; one number where both agree, "here ≠ GPU" elsewhere.
func Table(here, onGPU []Counted, skip ...string) string {
	index := map[string]Counted{}
	for _, c := range here {
		index[c.Case] = c
	}
	var b strings.Builder
	b.WriteString("| kernel | shape |")
	for _, p := range Pairs() {
		fmt.Fprintf(&b, " %s |", p.Name)
	}
	b.WriteString(" PTX instructions | machine instructions |\n| :-- | :-- |" + strings.Repeat(" --: |", len(Pairs())+2) + "\n")
	for _, g := range onGPU {
		h, ok := index[g.Case]
		words := strings.Fields(g.Case)
		if !ok || hasPrefix(g.Case, skip) || len(words) < 3 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", strings.Join(words[:2], " "), words[2])
		for _, p := range Pairs() {
			fmt.Fprintf(&b, " %s |", cell(h, g, p.Metric))
		}
		m := Instructions().Metric
		fmt.Fprintf(&b, " %s | %s |\n", number(h, m), number(g, m))
	}
	return b.String()
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func cell(h, g Counted, metric string) string {
	a, b := number(h, metric), number(g, metric)
	switch {
	case b == "":
		return a + " (not counted)"
	case a == b:
		return a
	}
	return a + " ≠ " + b
}

func number(c Counted, metric string) string {
	if v, ok := c.Metrics[metric]; ok {
		return strconv.FormatInt(v, 10)
	}
	return ""
}
