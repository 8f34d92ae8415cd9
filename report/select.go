package report

import (
	"fmt"
	"slices"
	"strings"

	"mage/evidence"
)

// Only returns the report with the cases whose ID or label holds one of the
// words; no words select all. Verdicts stay those of the whole report. It is an
// error if a word selects nothing.
func (r *Report) Only(words ...string) (*Report, error) {
	if len(words) == 0 {
		return r, nil
	}
	used := make([]bool, len(words))
	wanted := func(id string) bool {
		found := false
		for i, w := range words {
			if strings.Contains(id, w) || strings.Contains(r.caseLabel(id), w) {
				used[i], found = true, true
			}
		}
		return found
	}
	out := *r
	out.Cases = filter(r.Cases, func(c CaseResult) bool { return wanted(c.Case.ID) })
	out.Launchers = filter(r.Launchers, func(l Launcher) bool { return wanted(l.Case) })
	out.LaunchPaths = filter(r.LaunchPaths, func(p LaunchPaths) bool { return wanted(p.Case) })
	out.Counters = filter(r.Counters, func(c CounterResult) bool { return wanted(c.Case) })
	out.Findings = filter(r.Findings, func(f FindingResult) bool { return wanted(f.Case) })
	out.Gates = filter(r.Gates, func(g GateResult) bool { return wanted(g.Case) })
	out.Resources = filter(r.Resources, func(x Resource) bool { return wanted(x.Case) })
	out.Captures = filter(r.Captures, func(c evidence.Capture) bool { return wanted(c.Case) })
	out.Roofline = filter(r.Roofline, func(x RooflineResult) bool { return wanted(x.Case) })
	out.Graphs = filter(r.Graphs, func(g GraphResult) bool { return wanted(g.Case) })
	out.Warnings = filter(r.Warnings, func(w Warning) bool { return w.Case == "" || wanted(w.Case) })
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("no case of %s/%s holds %q", r.Header.Namespace, r.Header.RunID, words[i])
	}
	return &out, nil
}

func filter[T any](all []T, keep func(T) bool) []T {
	var out []T
	for _, x := range all {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}
