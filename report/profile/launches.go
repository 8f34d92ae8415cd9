package profile

import (
	"fmt"
	"slices"
	"strings"

	"mage/capture"
	"mage/report"
)

// launches is the summary of at most top groups.
func (p *Profile) launches(top int) report.Table {
	t := report.Table{ID: "launches", Title: "Kernels, by " + strings.Join(p.GroupBy, ", ")}
	for _, b := range p.GroupBy {
		t.Columns = append(t.Columns, report.Column{Key: b, Head: b, Prose: b == "kernel"})
	}
	for _, c := range p.columns {
		t.Columns = append(t.Columns, c.Column)
	}
	launches := 0
	for _, g := range p.Groups {
		launches += g.Launches
	}
	t.Lead = []string{counted(launches, "launch"), total(p.Groups) + " in all"}
	shown := p.Groups
	if top > 0 && len(shown) > top {
		shown = shown[:top]
		t.Remarks = []string{fmt.Sprintf("%s more, %s; --top 0 shows all", counted(len(p.Groups)-top, "group"), total(p.Groups[top:]))}
	}
	counters := slices.ContainsFunc(p.columns, func(c column) bool { return c.analysis })
	if counters && p.Capture.Backend != counting && len(shown) > 0 {
		t.Remarks = append(t.Remarks, "only --backend ncu reads counters")
	}
	if lacking := p.whatIsUncounted(shown); lacking != "" {
		t.Remarks = append(t.Remarks, lacking)
	}
	if p.Unroofed != "" {
		t.Remarks = append(t.Remarks, "no roofline: "+p.Unroofed)
	}
	keys := p.keys(shown)
	for i := range shown {
		g, cells := &shown[i], keys[i]
		for _, c := range p.columns {
			cells = append(cells, c.of(g))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}

// keys are the cells that tell groups apart.
func (p *Profile) keys(groups []Group) [][]report.Value {
	short := shortNames(p.GroupBy, groups)
	out := make([][]report.Value, len(groups))
	for i, g := range groups {
		for j, b := range p.GroupBy {
			v := word(g.Key[j])
			if b == "kernel" {
				v.Text = short[g.Key[j]]
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// total is the time of groups, unknown when one of them has none.
func total(groups []Group) string {
	us := 0.0
	for _, g := range groups {
		if g.TotalUS == nil {
			return "unknown time"
		}
		us += *g.TotalUS
	}
	return timeText(us)
}

// shortNames maps the names of kernels, where groups have one, to what is shown.
func shortNames(by []string, groups []Group) map[string]string {
	at := slices.Index(by, "kernel")
	if at < 0 {
		return nil
	}
	var names []string
	for _, g := range groups {
		names = append(names, g.Key[at])
	}
	return capture.ShortNames(names)
}
