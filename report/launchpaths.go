package report

import (
	"slices"

	"mage/evidence"
	"mage/impl"
	"mage/timing"
)

// PathOutcome says what becomes of an arm's advantage, or disadvantage, in its
// call path when the launch path is taken out of the comparison.
type PathOutcome string

// The outcomes. The first three are the answers; Appears is a difference between
// kernels that one call does not resolve.
const (
	Persists      PathOutcome = "persists"
	Vanishes      PathOutcome = "vanishes"
	Reverses      PathOutcome = "reverses"
	Appears       PathOutcome = "appears"
	NoDifference  PathOutcome = "no difference"
	PathUndecided PathOutcome = "undecided"
)

// LaunchPaths is one case and cache state, seen by kernel and launch path.
type LaunchPaths struct {
	Case  string    `json:"case"`
	Cache string    `json:"cache"`
	Rows  []PathRow `json:"rows"`
	// Verdict is one paragraph: the arms by outcome.
	Verdict string `json:"verdict,omitempty"`
}

// PathRow is one arm: its times by mode (median, µs per operation), and what its
// difference from the baseline becomes once the launch path is matched.
type PathRow struct {
	Arm            string `json:"arm"`
	Implementation string `json:"implementation"`
	LaunchPath     string `json:"launch_path"`
	Binary         string `json:"binary_sha256,omitempty"`
	// Output says what an arm does with its output that the others do not.
	Output    string   `json:"output,omitempty"`
	KernelUS  *float64 `json:"kernel_us,omitempty"`
	SpanUS    *float64 `json:"span_us,omitempty"`
	BatchUS   *float64 `json:"batch_us,omitempty"`
	GraphUS   *float64 `json:"graph_us,omitempty"`
	SubmitUS  *float64 `json:"submit_us,omitempty"`
	LatencyUS *float64 `json:"latency_us,omitempty"`
	// PathUS is span − graph: what one call spends beside its share of a graph,
	// both read with the same instrument. Kernel durations come from another
	// instrument and are not subtracted.
	PathUS *float64 `json:"path_us,omitempty"`
	// Span and Matched are the comparisons with the baseline as it is called, and
	// with the launch path matched: in a graph, where there is none by the kernels.
	Span        *Effect     `json:"span,omitempty"`
	Matched     *Effect     `json:"matched,omitempty"`
	MatchedMode string      `json:"matched_mode,omitempty"`
	Outcome     PathOutcome `json:"outcome,omitempty"`

	spanVerdict, matchedVerdict Verdict
}

// launchPaths arranges the cases by launch path. It is empty unless a case was
// measured over two launch paths at least, in span and in another mode.
func (r *Report) launchPaths() []LaunchPaths {
	var out []LaunchPaths
	for _, c := range r.Cases {
		for _, cache := range []timing.Cache{timing.Hot, timing.Cold} {
			if rows := r.pathRows(c, string(cache)); rows != nil {
				out = append(out, LaunchPaths{Case: c.Case.ID, Cache: string(cache), Rows: rows, Verdict: r.pathVerdict(rows)})
			}
		}
	}
	return out
}

// pathRows has one row per arm on a GPU, in the order that they are met; nil
// unless they take two launch paths at least.
func (r *Report) pathRows(c CaseResult, cache string) []PathRow {
	var rows []PathRow
	crossed := false
	for _, g := range c.Groups {
		if g.Cache != cache || g.Device == "cpu" {
			continue
		}
		for i := range g.Cells {
			cell := &g.Cells[i]
			if cell.Verdict == Control || cell.MedianUS == nil {
				continue
			}
			at := slices.IndexFunc(rows, func(p PathRow) bool { return p.Arm == cell.Arm })
			if at < 0 {
				at = len(rows)
				rows = append(rows, PathRow{Arm: cell.Arm, Implementation: cell.Implementation,
					LaunchPath: cell.LaunchPath, Binary: r.binary(c.Case.ID, cell.Arm), Output: r.outputs[c.Case.ID+" "+cell.Arm]})
				crossed = crossed || cell.LaunchPath != rows[0].LaunchPath
			}
			rows[at].take(g.Mode, cell)
		}
	}
	if !crossed {
		return nil
	}
	for i := range rows {
		rows[i].judge()
	}
	return rows
}

// binary is the hash of the device code that an arm ran on a case, "" if it has
// none of its own.
func (r *Report) binary(caseID, arm string) string {
	for _, x := range r.Resources {
		for _, a := range x.Arms {
			if x.Case == caseID && a == arm && x.Kind != "executable" {
				return x.Binary
			}
		}
	}
	return ""
}

// take keeps a cell's median under its mode; of several counts of one mode, the
// last that was declared.
func (p *PathRow) take(mode string, c *Cell) {
	switch kind(mode) {
	case timing.Kernel:
		p.KernelUS = c.MedianUS
		if p.GraphUS == nil || p.Matched == nil {
			p.match(mode, c)
		}
	case timing.Span:
		p.SpanUS, p.Span, p.spanVerdict = c.MedianUS, c.Effect, c.Verdict
	case timing.Batch:
		p.BatchUS = c.MedianUS
	case timing.Graph:
		p.GraphUS = c.MedianUS
		p.match(mode, c)
	case timing.Submit:
		p.SubmitUS = c.MedianUS
	case timing.Latency:
		p.LatencyUS = c.MedianUS
	}
	if p.SpanUS != nil && p.GraphUS != nil {
		d := *p.SpanUS - *p.GraphUS
		p.PathUS = &d
	}
}

// match takes a comparison with the launch path out of it, if there is one: the
// baseline may lack the mode.
func (p *PathRow) match(mode string, c *Cell) {
	if c.Effect != nil {
		p.Matched, p.matchedVerdict, p.MatchedMode = c.Effect, c.Verdict, mode
	}
}

// judge compares the two verdicts.
func (p *PathRow) judge() {
	if p.Span != nil && p.Matched != nil && p.Span.Against == p.Matched.Against {
		p.Outcome = outcome(p.spanVerdict, p.matchedVerdict)
	}
}

// outcome follows from the verdict as called and the verdict with the launch
// path matched.
func outcome(span, matched Verdict) PathOutcome {
	same := func(v Verdict) bool { return v == Equivalent || v == Indistinguishable }
	differs := func(v Verdict) bool { return v == Faster || v == Slower }
	switch {
	case differs(span) && span == matched:
		return Persists
	case differs(span) && differs(matched):
		return Reverses
	case differs(span) && same(matched):
		return Vanishes
	case same(span) && differs(matched):
		return Appears
	case same(span) && same(matched):
		return NoDifference
	}
	return PathUndecided
}

// outputNotes has what arms say of their output, by case and arm.
func outputNotes(rec *evidence.Record) map[string]string {
	out := map[string]string{}
	for _, e := range rec.Entries {
		if note := e.Identity.Notes[impl.OutputNote]; note != "" {
			out[e.Case+" "+e.Arm] = note
		}
	}
	return out
}
