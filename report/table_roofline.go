package report

import (
	"fmt"
	"strings"

	"mage/capture"
	"mage/roofline"
)

// whatIsRoofline explains the columns.
const whatIsRoofline = "The ceiling that binds is the one that would take longest; “of ceiling” is that time over the measured one. Where it is small, none is near: the kernel waits, or the device for its launch. Ceilings were measured, in another session."

// rooflineTable has every time under the ceiling that is nearest to it.
func (r *Report) rooflineTable() Table {
	t := Table{ID: RooflineTable, Title: "Under the ceilings of " + r.roofs.Device + ", " + r.roofs.About, Columns: []Column{
		{Key: "case", Head: "case"}, {Key: "mode", Head: "mode"}, {Key: "cache", Head: "cache"}, {Key: "arm", Head: "arm"},
		{Key: "instrument", Head: "instrument", Drop: 5}, {Key: "kernel", Head: "kernel", Drop: 1},
		{Key: "time_us", Head: "time", Unit: "µs", Align: Right},
		{Key: "from", Head: "bytes, FLOPs", Drop: 4}}}
	t.Columns = append(t.Columns, PlacementColumns()...)
	last := ""
	for _, x := range r.Roofline {
		row := r.rooflineRow(&t, x)
		row.Rule = last != "" && last != x.Case
		if last == x.Case {
			row.Cells[0].Text = ""
		}
		last = x.Case
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		t.Remarks = []string{whatIsRoofline}
		if r.roofs.UUID == "" || !r.has(r.roofs.UUID) {
			t.Remarks = append(t.Remarks, "The ceilings are of another device of the same model.")
		}
	}
	return t.compact()
}

// has reports whether the record has the device.
func (r *Report) has(uuid string) bool {
	for _, d := range r.Header.Devices {
		if d.UUID == uuid {
			return true
		}
	}
	return false
}

func (r *Report) rooflineRow(t *Table, x RooflineResult) Row {
	p := x.Placement
	arm := word(r.label(x.Arm))
	arm.Data = x.Arm
	kernel := none()
	if x.Kernel != "" {
		kernel = number(capture.ShortName(x.Kernel), x.Kernel)
		if kernel.Text == "" {
			kernel.Text = x.Kernel
		}
	}
	cells := []Value{word(r.caseLabel(x.Case)), word(x.Mode), word(x.Cache), arm, word(x.Instrument), kernel, optionalTime(x.TimeUS), word(sourcesOf(p))}
	return Row{Cells: append(cells, t.PlacementCells(p)...)}
}

// PlacementColumns are those of [Table.PlacementCells].
func PlacementColumns() []Column {
	return []Column{
		{Key: "flops_per_byte", Head: "FLOP/B", Unit: "FLOP/B", Align: Right, Drop: 3},
		{Key: "flops_per_s", Head: "FLOP/s", Unit: "FLOP/s", Align: Right, Drop: 2},
		{Key: "dram_bytes_per_s", Head: "DRAM", Unit: "B/s", Align: Right, Drop: 2},
		{Key: "binds", Head: "binds"}, {Key: "of_ceiling", Head: "of ceiling", Unit: "1", Align: Right},
		{Key: "ceiling", Head: "ceiling"}}
}

// PlacementCells say where an operation lies under ceilings; footnotes say what was
// not measured, and what to keep in mind.
func (t *Table) PlacementCells(p roofline.Placement) []Value {
	binds, fraction := t.nearest(p)
	ceiling := none()
	if p.Binds != "" {
		ceiling = word(ceilingText(p))
	}
	return []Value{intensity(p), rateCell(p.FLOPRate, "FLOP/s"), rateCell(p.DRAMRate(), "B/s"), binds, fraction, ceiling}
}

// nearest is the kind of the nearest ceiling, and how near it is.
func (t *Table) nearest(p roofline.Placement) (binds, fraction Value) {
	binds, fraction = unknown(), unknown()
	if p.Binds != "" {
		binds = word(p.Binds.Class())
	}
	if p.Fraction != nil {
		fraction = number(percent(*p.Fraction), *p.Fraction)
	}
	for _, note := range p.Unknown {
		binds.Marks = append(binds.Marks, t.footnote("unknown: "+note))
	}
	for _, note := range p.Notes {
		fraction.Marks = append(fraction.Marks, t.footnote(note))
	}
	return binds, fraction
}

func intensity(p roofline.Placement) Value {
	if p.Intensity == nil {
		return unknown()
	}
	return number(significant(*p.Intensity, 3), *p.Intensity)
}

// unknown is a cell for what would be there if it had been measured.
func unknown() Value { return Value{Text: "unknown", Tone: Faint} }

// ceilingText is the roof that binds, with its rate.
func ceilingText(p roofline.Placement) string {
	for _, s := range p.Shares {
		if s.Roof == p.Roof {
			switch {
			case s.Resource == roofline.Launch:
				return fmt.Sprintf("%s µs, %s", significant(s.BoundUS, 3), s.Roof)
			case s.Resource.Arithmetic():
				return countText(s.Ceiling, "FLOP/s") + ", " + s.Roof
			}
			return countText(s.Ceiling, "B/s") + ", " + s.Roof
		}
	}
	return p.Roof
}

func rateCell(x *float64, unit string) Value {
	if x == nil {
		return unknown()
	}
	return number(countText(*x, unit), *x)
}

// sourcesOf says where bytes and FLOPs are from.
func sourcesOf(p roofline.Placement) string {
	var out []string
	for _, s := range p.Shares {
		if from := string(s.Amount.From); s.Resource != roofline.Launch && !strings.Contains(strings.Join(out, ","), from) {
			out = append(out, from)
		}
	}
	return strings.Join(out, ", ")
}
