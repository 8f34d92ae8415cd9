package report

import (
	"fmt"
	"slices"

	"mage/stats"
	"mage/timing"
)

// A cell is said to drift, to be correlated or to have several states when two of
// its rounds at least, and one in ten, say so: each round is tested on its own,
// and in a record of thousands of rounds some speak up by chance.
const (
	suspectRounds = 2
	suspectShare  = 0.1
)

// inspect looks for what is wrong with the samples of a cell.
func (b *builder) inspect(g *Group, cell *Cell, s *series) []Warning {
	if cell.MedianUS == nil {
		return nil
	}
	var out []Warning
	rounds := map[stats.Code]int{}
	example := map[stats.Code]string{}
	for _, m := range s.counted {
		// Times that are not positive are left to the comparison, which fails on them.
		ws, err := stats.Inspect(m.Samples, b.opts.Margin)
		if err != nil {
			continue
		}
		for _, w := range ws {
			if rounds[w.Code]++; rounds[w.Code] == 1 {
				example[w.Code] = w.Detail
			}
		}
	}
	for _, code := range []stats.Code{stats.Drift, stats.Autocorrelation, stats.Bimodal} {
		n := rounds[code]
		if n < min(suspectRounds, len(s.counted)) || float64(n) < suspectShare*float64(len(s.counted)) || n == 0 {
			continue
		}
		w := fromStats(stats.Warning{Code: code, Detail: example[code]})
		w.Detail = fmt.Sprintf("in %d of %d rounds; first: %s", n, len(s.counted), w.Detail)
		out = append(out, w)
	}
	interval := *cell.MedianUS * float64(max(1, cell.Operations))
	if w, near := stats.NearResolution(interval, b.step(g), b.overhead(g)); near {
		out = append(out, fromStats(w))
	}
	if cell.Verdict == Faster || cell.Verdict == Slower {
		pool := slices.Concat(s.samples()...)
		slices.Sort(pool)
		sum := stats.Summary{Median: median(pool), P5: quantile(pool, 0.05), P95: quantile(pool, 0.95)}
		if w, wide := stats.SpreadExceeds(sum, cell.Effect.Ratio); wide {
			out = append(out, fromStats(w))
		}
	}
	return out
}

// overhead is what an empty measurement with a group's instrument takes, µs, 0
// if unknown.
func (b *builder) overhead(g *Group) float64 {
	c := b.calibration(g.Device)
	switch {
	case c == nil:
		return 0
	case g.Instrument == string(timing.HostClock):
		return c.ClockOverheadUS
	case g.Instrument == string(timing.CUDAEvent) && c.EventOverheadUS != nil:
		return *c.EventOverheadUS
	}
	return 0
}

// clocks checks the order that an arm's times must have whatever instrument read
// them, and warns on the first cell of the arm.
func (b *builder) clocks(c *CaseResult) {
	type place struct{ arm, cache string }
	clocks := map[place]*stats.Clocks{}
	cells := map[place]*Cell{}
	var order []place
	for j := range c.Groups {
		g := &c.Groups[j]
		for k := range g.Cells {
			cell := &g.Cells[k]
			if cell.MedianUS == nil {
				continue
			}
			p := place{cell.Arm, g.Cache}
			if clocks[p] == nil {
				clocks[p], cells[p] = &stats.Clocks{}, cell
				order = append(order, p)
			}
			set(clocks[p], kind(g.Mode), *cell.MedianUS)
		}
	}
	for _, p := range order {
		for _, w := range clocks[p].Check() {
			cells[p].Warnings = append(cells[p].Warnings, fromStats(w))
		}
	}
}

// set keeps the smallest time of each kind of mode: what must not be exceeded.
func set(c *stats.Clocks, k timing.Kind, us float64) {
	field := map[timing.Kind]*float64{timing.Kernel: &c.Kernel, timing.Graph: &c.Graph, timing.Batch: &c.Batch,
		timing.Span: &c.Span, timing.Latency: &c.Latency}[k]
	if field != nil && (*field == 0 || us < *field) {
		*field = us
	}
}
