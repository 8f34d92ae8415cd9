// Package report turns the retained evidence of a run into tables: what ran,
// how long it took, how arms compare, what the gate said, what was lacking, and
// every reason for doubt. It draws them for a terminal, Markdown, CSV, JSON,
// LaTeX and benchstat.
//
// Every number comes from an evidence.Run; judgement comes from package stats.
// It must not know devices, launch paths or how anything was measured.
package report
