package report

import (
	"fmt"
	"strings"
)

// launchPathsTables draws one table per case and cache state, its verdict below it.
func (r *Report) launchPathsTables() []Table {
	var out []Table
	for _, p := range r.LaunchPaths {
		t := Table{ID: LaunchPathsTable, Title: "Launch paths: " + r.caseLabel(p.Case) + ", " + p.Cache,
			Columns: []Column{{Key: "implementation", Head: "kernel"}, {Key: "launch_path", Head: "path"},
				{Key: "kernel_us", Head: "kernel", Unit: "µs", Align: Right}, {Key: "span_us", Head: "span", Unit: "µs", Align: Right},
				{Key: "batch_us", Head: "batch", Unit: "µs", Align: Right}, {Key: "graph_us", Head: "graph", Unit: "µs", Align: Right},
				{Key: "path_us", Head: "span − graph", Unit: "µs", Align: Right}, {Key: "submit_us", Head: "submit", Unit: "µs", Align: Right},
				{Key: "latency_us", Head: "latency", Unit: "µs", Align: Right, Drop: 2},
				{Key: "binary_sha256", Head: "binary", Drop: 1}, {Key: "outcome", Head: "launch path matched"}}}
		for _, row := range p.Rows {
			binary := word(short(row.Binary))
			binary.Data = row.Binary
			path := word(row.LaunchPath)
			if row.Output != "" {
				path.Marks = append(path.Marks, t.footnote("its output is "+row.Output+", where that of the others is given"))
			}
			t.Rows = append(t.Rows, Row{Cells: []Value{word(row.Implementation), path,
				optionalTime(row.KernelUS), optionalTime(row.SpanUS), optionalTime(row.BatchUS), optionalTime(row.GraphUS),
				optionalTime(row.PathUS), optionalTime(row.SubmitUS), optionalTime(row.LatencyUS), binary, word(string(row.Outcome))}})
		}
		if p.Verdict != "" {
			t.Remarks = append(t.Remarks, p.Verdict)
		}
		t.Remarks = append(t.Remarks, "Kernel durations (cupti) and spans (cuda-event) are of different instruments: their difference is not formed. "+
			"span − graph is of one instrument: what one call spends beside its share of a graph.")
		out = append(out, t.compact())
	}
	return out
}

// pathAnswers are the parts of a verdict in their order, each with the verdict as
// called that it is about; where that is none, the one with the path matched.
// The last two are of arms that differ in neither, or that nothing can be said of.
var pathAnswers = [...]struct {
	outcome PathOutcome
	verdict Verdict
	words   string
}{
	{Persists, Faster, "An advantage persists"},
	{Persists, Slower, "A disadvantage persists"},
	{Vanishes, Faster, "An advantage vanishes"},
	{Vanishes, Slower, "A disadvantage vanishes"},
	{Reverses, Faster, "An advantage reverses"},
	{Reverses, Slower, "A disadvantage reverses"},
	{Appears, Faster, "An advantage appears that one call does not resolve"},
	{Appears, Slower, "A disadvantage appears that one call does not resolve"},
	{NoDifference, "", "No difference"},
	{PathUndecided, "", "Undecided"},
}

// pathVerdict says in one paragraph what becomes of each arm's difference; "" if
// nothing was compared.
func (r *Report) pathVerdict(rows []PathRow) string {
	var parts []string
	against, mode := "", ""
	for _, answer := range pathAnswers {
		var arms []string
		for i := range rows {
			p := &rows[i]
			if p.Outcome != answer.outcome || answer.verdict != "" && p.direction() != answer.verdict {
				continue
			}
			if mode == "" {
				against, mode = p.Span.Against, p.MatchedMode
			}
			arm := r.label(p.Arm)
			if answer.verdict != "" {
				arm += " " + effectText(p.Span) + " → " + effectText(p.Matched)
			}
			if p.MatchedMode != mode {
				arm += " in " + p.MatchedMode
			}
			arms = append(arms, arm)
		}
		if len(arms) > 0 {
			parts = append(parts, answer.words+": "+strings.Join(arms, ", ")+".")
		}
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("Over the time of %s, as called (span) → with the launch path matched (%s): ratio and %s interval. %s",
		r.label(against), mode, percent(r.Header.Confidence), strings.Join(parts, " "))
}

// direction is the verdict that an arm's outcome starts from.
func (p *PathRow) direction() Verdict {
	if p.Outcome == Appears {
		return p.matchedVerdict
	}
	return p.spanVerdict
}

// effectText is a ratio and, where it is known, its interval: "1.06 (1.05–1.07)".
func effectText(e *Effect) string {
	ratio, interval := ratioText(e.Ratio, e.Low, e.High, ratioDecimals(e.Ratio, e.Low, e.High))
	if interval == "" {
		return ratio
	}
	return ratio + " (" + interval + ")"
}
