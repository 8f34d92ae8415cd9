package report

// flatLaunchPaths has a row per case, cache state and arm.
func (r *Report) flatLaunchPaths() Table {
	t := Table{ID: LaunchPathsTable, Title: "Launch paths", Columns: keys("case", "cache", "arm", "implementation", "path", "binary_sha256",
		"kernel_us", "span_us", "batch_us", "graph_us", "span_minus_graph_us", "submit_us", "latency_us", "output", "against",
		"span_ratio", "span_ratio_low", "span_ratio_high", "span_verdict",
		"matched_mode", "matched_ratio", "matched_ratio_low", "matched_ratio_high", "matched_verdict", "outcome")}
	for _, l := range r.LaunchPaths {
		for i := range l.Rows {
			p := &l.Rows[i]
			data := []any{l.Case, l.Cache, p.Arm, p.Implementation, p.LaunchPath, p.Binary, value(p.KernelUS), value(p.SpanUS), value(p.BatchUS),
				value(p.GraphUS), value(p.PathUS), value(p.SubmitUS), value(p.LatencyUS), p.Output, against(p.Span, p.Matched)}
			data = append(data, effectData(p.Span)...)
			data = append(data, string(p.spanVerdict), p.MatchedMode)
			data = append(data, effectData(p.Matched)...)
			t.Rows = append(t.Rows, dataRow(append(data, string(p.matchedVerdict), string(p.Outcome))...))
		}
	}
	return t
}

// flatLaunchers has a row per case, cache state, arm and mode.
func (r *Report) flatLaunchers() Table {
	t := Table{ID: LaunchersTable, Title: "Launchers of one binary", Columns: keys("case", "cache", "arm", "implementation", "path", "against",
		"binary_sha256", "mode", "ratio", "ratio_low", "ratio_high", "verdict")}
	for _, l := range r.Launchers {
		for _, m := range l.Modes {
			data := []any{l.Case, l.Cache, l.Arm, l.Implementation, l.LaunchPath, l.Against, l.Binary, m.Mode}
			t.Rows = append(t.Rows, dataRow(append(append(data, effectData(m.Effect)...), string(m.Verdict))...))
		}
	}
	return t
}

// against is the arm that the first known effect is over.
func against(effects ...*Effect) any {
	for _, e := range effects {
		if e != nil {
			return e.Against
		}
	}
	return nil
}

// effectData is ratio, low and high.
func effectData(e *Effect) []any {
	if e == nil {
		return make([]any, 3)
	}
	return []any{e.Ratio, value(e.Low), value(e.High)}
}
