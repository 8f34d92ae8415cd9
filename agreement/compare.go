package agreement

import (
	"fmt"
	"slices"
	"strings"

	"mage/gpu"
	"mage/gpu/simt"
)

// Count runs the case on a simulator.
func (c Case) Count(dev *simt.Device, s gpu.Stream) (simt.Counters, Output, error) {
	dev.ResetCounters()
	o, err := c.Run(dev, s)
	return dev.Counters(), o, err
}

// Difference is a pair of which the simulator and the GPU say different things.
type Difference struct {
	Pair      Pair
	Here, GPU int64
	// Compiled says that the machine code executed another number of such
	// instructions than the PTX: the compiler merged or repeated accesses.
	Compiled bool
}

// Compare returns the pairs that differ. A metric that was not collected is passed
// over.
func Compare(c simt.Counters, g Counted) []Difference {
	var all []Difference
	for _, p := range Pairs() {
		n, counted := p.GPU(g)
		if here := p.Here(c); counted && here != n {
			all = append(all, Difference{p, here, n, p.compiled(c, g)})
		}
	}
	return all
}

func (p Pair) compiled(c simt.Counters, g Counted) bool {
	if p.HereInstructions == nil {
		return false
	}
	if g.LoadsMatrices && strings.Contains(p.Instructions, "shared_ld") {
		return false // ldmatrix is no such instruction
	}
	n, counted := g.Metrics[p.Instructions]
	if strings.Contains(p.Instructions, "global_ld") {
		n += g.Metrics[executed+"ldgsts.sum"] // cp.async
	}
	return counted && n != p.HereInstructions(c)
}

// Row is a case that both ran.
type Row struct {
	Case string
	Here simt.Counters
	GPU  Counted
}

// Table is the comparison as Markdown: a row per case, a column per pair that any
// of them has. One number stands where both agree, "here ≠ GPU" elsewhere.
func Table(rows []Row) string {
	pairs := slices.DeleteFunc(Pairs(), func(p Pair) bool {
		return !slices.ContainsFunc(rows, func(r Row) bool { n, _ := p.GPU(r.GPU); return n != 0 || p.Here(r.Here) != 0 })
	})
	var b strings.Builder
	b.WriteString("| kernel | shape |")
	for _, p := range pairs {
		fmt.Fprintf(&b, " %s |", p.Name)
	}
	b.WriteString(" instructions of PTX | of the machine |\n| :-- | :-- |" + strings.Repeat(" --: |", len(pairs)+2) + "\n")
	last := ""
	for _, r := range rows {
		words := strings.Fields(r.Case)
		kernel := strings.Join(words[:2], " ")
		shown := kernel
		if kernel == last {
			shown = ""
		}
		last = kernel
		fmt.Fprintf(&b, "| %s | %s |", shown, words[2])
		for _, p := range pairs {
			fmt.Fprintf(&b, " %s |", p.cell(r))
		}
		fmt.Fprintf(&b, " %d | %d |\n", r.Here.Instructions.Total(), r.GPU.Metrics[machine])
	}
	return b.String()
}

func (p Pair) cell(r Row) string {
	n, counted := p.GPU(r.GPU)
	here := p.Here(r.Here)
	switch {
	case !counted:
		return fmt.Sprintf("%d ²", here)
	case n == here && n == 0:
		return ""
	case n == here:
		return fmt.Sprint(n)
	case p.compiled(r.Here, r.GPU):
		return fmt.Sprintf("%d ≠ %d ¹", here, n)
	}
	return fmt.Sprintf("%d ≠ %d", here, n)
}
