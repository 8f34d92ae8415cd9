package profile

import (
	"fmt"
	"slices"
	"strings"

	"mage/capture"
	"mage/report"
	"mage/roofline"
)

// counting is the backend that reads counters.
const counting = "ncu"

// place puts what was counted of each group under the ceilings, if there are any.
func (p *Profile) place(groups []capture.Group, o Options) error {
	for i, g := range groups {
		p.Groups[i].Uncounted = capture.Uncounted(g.Launches)
	}
	if o.Roofs == nil {
		p.Unroofed = o.Unroofed
		return nil
	}
	same, err := o.Roofs.Of(roofline.Device{Name: p.Capture.Device, UUID: p.Capture.UUID})
	if err != nil {
		return err
	}
	p.Ceilings = &Ceilings{Device: o.Roofs.Device, UUID: o.Roofs.UUID, About: o.Roofs.About, Same: same}
	for i, g := range groups {
		placed := roofline.Place(capture.Work(g.Launches), *o.Roofs)
		p.Groups[i].Roofline = &placed
	}
	return nil
}

// roofline has one row per group that is shown.
func (p *Profile) roofline(top int) report.Table {
	t := report.Table{ID: "roofline"}
	if p.Ceilings == nil || len(p.Groups) == 0 {
		return t
	}
	t.Title = "Under the ceilings of " + p.Ceilings.Device + ", " + p.Ceilings.About
	for _, b := range p.GroupBy {
		t.Columns = append(t.Columns, report.Column{Key: b, Head: b, Prose: b == "kernel"})
	}
	t.Columns = append(t.Columns, report.PlacementColumns()...)
	shown := p.Groups
	if top > 0 && len(shown) > top {
		shown = shown[:top]
	}
	keys := p.keys(shown)
	for i, g := range shown {
		t.Rows = append(t.Rows, report.Row{Cells: append(keys[i], t.PlacementCells(*g.Roofline)...)})
	}
	t.Remarks = append(t.Remarks, "Time, bytes and FLOPs are all ncu's, of kernels run alone; the ceilings were measured in another session.")
	if !p.Ceilings.Same {
		t.Remarks = append(t.Remarks, "The ceilings are of "+ofTheModel(p.Capture))
	}
	return t
}

func ofTheModel(c *capture.Capture) string {
	if c.UUID == "" {
		return "this model; whether they are of this device is not known"
	}
	return "another device of this model; mage doctor --ceilings measures those of this one"
}

// whatIsUncounted names the counters that groups lack, and what would give them; "" where
// they lack none.
func (p *Profile) whatIsUncounted(groups []Group) string {
	lacking := uncounted(groups)
	switch {
	case len(lacking) == 0:
		return ""
	case p.Capture.Set != "" || len(p.Capture.Metrics) > 0:
		return "not counted: " + few(lacking) + "; --analyze without --set and --metrics counts them"
	}
	return "ncu did not count " + few(lacking)
}

func uncounted(groups []Group) (out []string) {
	for _, g := range groups {
		for _, name := range g.Uncounted {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// few names three, and says how many more there are.
func few(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
}
