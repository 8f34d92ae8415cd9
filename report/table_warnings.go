package report

import (
	"fmt"
	"slices"
	"strings"
)

// warningsTable has a row per kind of warning, with the places it concerns; the
// JSON report has every single one with its numbers.
func (r *Report) warningsTable() Table {
	t := Table{ID: WarningsTable, Title: "Warnings", Columns: []Column{
		{Key: "severity", Head: "severity"}, {Key: "kind", Head: "kind"},
		{Key: "where", Head: "where", Prose: true}, {Key: "detail", Head: "detail", Prose: true}}}
	type kind struct {
		severity   Severity
		kind, text string
	}
	var order []kind
	groups := map[kind][]Warning{}
	for _, w := range r.Warnings {
		k := kind{w.Severity, w.Kind, w.Text}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], w)
	}
	for _, k := range order {
		ws := groups[k]
		severity := word(string(k.severity)).tone(map[Severity]Tone{Error: Bad, Warn: Caution, Note: Faint}[k.severity])
		detail := k.text
		if d := ws[0].Detail; d != "" && len(ws) > 1 {
			detail += "; the first: " + d
		} else if d != "" {
			detail += ": " + d
		}
		t.Rows = append(t.Rows, Row{Cells: []Value{severity, word(k.kind), word(r.places(ws)), word(detail)}})
	}
	return t
}

// places says where warnings of one kind are: one place in full, of many their
// number, the cases and, where they are few, the arms and modes.
func (r *Report) places(ws []Warning) string {
	var cases, arms, modes []string
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, w := range ws {
		add(&cases, r.caseLabel(w.Case))
		add(&arms, r.label(w.Arm))
		add(&modes, strings.TrimSpace(w.Mode+" "+w.Cache))
	}
	var parts []string
	for _, list := range []struct {
		names []string
		noun  string
	}{{cases, "cases"}, {arms, "arms"}, {modes, "modes"}} {
		switch n := len(list.names); {
		case n > 3:
			parts = append(parts, fmt.Sprintf("%d %s", n, list.noun))
		case n > 0:
			parts = append(parts, strings.Join(list.names, ", "))
		}
	}
	s := strings.Join(parts, "; ")
	if len(ws) > 1 && s != "" {
		s = fmt.Sprintf("%d cells: %s", len(ws), s)
	}
	return s
}
