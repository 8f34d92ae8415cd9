package report

import (
	"fmt"
	"maps"
	"slices"

	"mage/capture"
	"mage/evidence"
	"mage/roofline"
)

// whatIsCaptured keeps the times apart from those that are compared.
const whatIsCaptured = "Seen by a profiler after the rounds, one operation each. Its times are its own, and compared with none above."

// capturesTable has one row per kernel of an operation.
func (r *Report) capturesTable() Table {
	t := Table{ID: CapturesTable, Title: "Kernels of one operation, as a profiler saw them", Columns: []Column{
		{Key: "case", Head: "case"}, {Key: "arm", Head: "arm"}, {Key: "instrument", Head: "instrument"},
		{Key: "kernel", Head: "kernel", Prose: true}, {Key: "grid", Head: "grid", Drop: 2}, {Key: "block", Head: "block", Drop: 2},
		{Key: "registers", Head: "registers", Align: Right, Drop: 3}, {Key: "shared_bytes", Head: "shared", Unit: "B", Align: Right, Drop: 4},
		{Key: "time_us", Head: "time", Unit: "µs", Align: Right}, {Key: "operation_us", Head: "operation", Unit: "µs", Align: Right},
		{Key: "dram_bytes", Head: "DRAM bytes", Unit: "B", Align: Right, Drop: 5},
		{Key: "flops", Head: "FLOPs", Unit: "FLOP", Align: Right, Drop: 5},
		{Key: "flops_per_byte", Head: "FLOP/B", Unit: "FLOP/B", Align: Right, Drop: 2},
		{Key: "binds", Head: "binds", Drop: 1}, {Key: "of_ceiling", Head: "of ceiling", Unit: "1", Align: Right, Drop: 1},
		{Key: "copies", Head: "copies", Align: Right, Drop: 6}, {Key: "allocations", Head: "allocations", Align: Right, Drop: 6},
		{Key: "findings", Head: "findings", Prose: true, Drop: 1}}}
	last := ""
	for i := range r.Captures {
		c := &r.Captures[i]
		rows := r.captureRows(&t, c)
		rows[0].Rule = last != "" && last != c.Case+c.Arm
		last = c.Case + c.Arm
		t.Rows = append(t.Rows, rows...)
	}
	t = t.compact()
	if len(t.Rows) > 0 {
		t.Remarks = []string{whatIsCaptured}
		for _, c := range t.Columns {
			if c.Key == "binds" {
				t.Remarks = append(t.Remarks, "Of what ncu counted, time, bytes and FLOPs are all ncu's. The ceilings are of "+r.roofs.Device+", "+r.roofs.About+".")
			}
		}
	}
	return t
}

// captureRows are the rows of one capture: one per launch, at least one.
func (r *Report) captureRows(t *Table, c *evidence.Capture) []Row {
	instrument := word(c.Backend)
	for _, why := range []string{c.Reason, c.Note, r.unplaced(c)} {
		if why != "" {
			instrument.Marks = append(instrument.Marks, t.footnote(why))
		}
	}
	if c.Outcome != string(capture.Complete) {
		instrument.Tone = Bad
	}
	arm := word(r.label(c.Arm))
	arm.Data = c.Arm
	first := []Value{word(r.caseLabel(c.Case)), arm, instrument}
	whole := []Value{optionalTime(c.KernelUS), perOperation(c.Copies), perOperation(c.Allocations), findingsOf(c)}
	launches := c.Launches
	if len(launches) == 0 {
		launches = []evidence.Launch{{}}
	}
	var rows []Row
	for i := range launches {
		l := &launches[i]
		if i > 0 { // said once
			for j := range first {
				first[j].Text, first[j].Marks = "", nil
			}
			whole = []Value{none(), none(), none(), none()}
		}
		cells := append(slices.Clone(first), launchCells(l)...)
		placed := r.placementCells(t, c, l)
		kernel := &cells[len(first)] // a narrow terminal keeps it, and so the notes
		for j := range placed {
			kernel.Marks, placed[j].Marks = append(kernel.Marks, placed[j].Marks...), nil
		}
		cells = append(cells, whole[0], dramBytes(l))
		cells = append(cells, placed...)
		rows = append(rows, Row{Cells: append(cells, whole[1:]...)})
	}
	return rows
}

func launchCells(l *evidence.Launch) []Value {
	if l.Kernel == "" {
		return []Value{none(), none(), none(), none(), none(), none()}
	}
	name := number(capture.ShortName(l.Kernel), l.Kernel)
	if name.Text == "" {
		name.Text = l.Kernel
	}
	var shared *int
	if l.StaticShared != nil && l.DynamicShared != nil {
		n := *l.StaticShared + *l.DynamicShared
		shared = &n
	}
	return []Value{name, word(capture.Dim(l.Grid).String()), word(capture.Dim(l.Block).String()),
		count(l.Registers, ""), count(shared, " B"), optionalTime(l.MeanUS)}
}

// dramBytes is what ncu counted, read and written.
func dramBytes(l *evidence.Launch) Value {
	read, ok := l.Counters["dram__bytes_read.sum"]
	write, both := l.Counters["dram__bytes_write.sum"]
	if !ok || !both {
		return none()
	}
	n := int64(read.Value + write.Value)
	return number(bytesText(n), n)
}

// placementCells are FLOPs, intensity, the nearest ceiling and how near it is, of a
// kernel whose work was counted.
func (r *Report) placementCells(t *Table, c *evidence.Capture, l *evidence.Launch) []Value {
	w := counted(*l)
	if len(w.Demands) == 0 {
		return []Value{none(), none(), none(), none()}
	}
	p := roofline.Place(w, r.roofs)
	flops := unknown()
	if n := w.FLOPs(); n != nil {
		flops = number(countText(*n, "FLOP"), *n)
	}
	if !r.roofed[c.Arm] || r.unplaced(c) != "" {
		return []Value{flops, intensity(p), none(), none()}
	}
	binds, fraction := t.nearest(p)
	return []Value{flops, intensity(p), binds, fraction}
}

func perOperation(n *float64) Value {
	if n == nil {
		return none()
	}
	return number(trim(*n), *n)
}

// findingsOf lists each kind of error once.
func findingsOf(c *evidence.Capture) Value {
	kinds := map[string]int{}
	for _, f := range c.Findings {
		kinds[f.Kind] += f.Count
	}
	if len(kinds) == 0 {
		if c.Backend == "sanitizer" && c.Outcome == string(capture.Complete) {
			return Value{Text: "none", Data: 0, Tone: Good}
		}
		return none()
	}
	text := ""
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%d × %s", kinds[k], k)
	}
	return Value{Text: text, Data: text, Tone: Bad}
}
