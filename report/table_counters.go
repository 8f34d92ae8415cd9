package report

import (
	"fmt"
	"strings"
)

// whatIsCounted explains the columns that no other tool names so.
const whatIsCounted = "Counted exactly, not timed. × ideal is the 32-byte sectors moved over the fewest that could carry the bytes asked for."

// countersTable has the arms of one case that ran on a device that counts.
func (r *Report) countersTable(c CaseResult) Table {
	t := Table{ID: CountersTable, Title: "Counters of " + caseTitle(c), Columns: []Column{
		{Key: "arm", Head: "arm"}, {Key: "device", Head: "device"},
		{Key: "warp_instructions", Head: "warp instr.", Align: Right},
		{Key: "active_lanes", Head: "active lanes", Unit: "1", Align: Right, Drop: 6},
		{Key: "load_requests", Head: "load requests", Align: Right, Drop: 8},
		{Key: "load_sectors", Head: "load sectors", Align: Right, Drop: 1},
		{Key: "loads_over_ideal", Head: "× ideal", Unit: "1", Align: Right, Drop: 1},
		{Key: "store_requests", Head: "store requests", Align: Right, Drop: 9},
		{Key: "store_sectors", Head: "store sectors", Align: Right, Drop: 2},
		{Key: "stores_over_ideal", Head: "× ideal", Unit: "1", Align: Right, Drop: 2},
		{Key: "shared_wavefronts", Head: "shared wavefronts", Align: Right, Drop: 7},
		{Key: "bank_conflicts", Head: "bank conflicts", Align: Right, Drop: 3},
		{Key: "atomics", Head: "atomics", Align: Right, Drop: 5},
		{Key: "barriers", Head: "barriers", Align: Right, Drop: 10},
		{Key: "flops", Head: "FLOPs", Unit: "FLOP", Align: Right, Drop: 11},
		{Key: "bytes_touched", Head: "bytes", Unit: "B", Align: Right, Drop: 12},
		{Key: "intensity", Head: "FLOP/B", Unit: "FLOP/B", Align: Right, Drop: 4}}}
	for _, x := range r.Counters {
		if x.Case != c.Case.ID {
			continue
		}
		k := x.Counters
		arm := word(r.label(x.Arm))
		arm.Data = x.Arm
		if x.Failed != "" { // the notes above say why
			arm.Text, arm.Tone = arm.Text+" (failed)", Bad
		}
		t.Rows = append(t.Rows, Row{Cells: []Value{arm, word(r.devices[x.Arm]),
			exactly(x.WarpInstructions), number(percent3(x.ActiveLanes), x.ActiveLanes),
			exactly(k.GlobalLoads.Requests + k.AsyncCopies.Requests), exactly(x.LoadSectors), overIdeal(x.LoadsOverIdeal),
			exactly(k.GlobalStores.Requests), exactly(x.StoreSectors), overIdeal(x.StoresOverIdeal),
			exactly(x.SharedWavefronts), conflicts(x.BankConflicts), exactly(k.GlobalAtomics + k.SharedAtomics),
			exactly(k.Barriers), number(countText(float64(x.FLOPs), "FLOP"), x.FLOPs),
			number(bytesText(x.BytesTouched), x.BytesTouched), number(significant(x.Intensity, 3), x.Intensity)}})
	}
	if len(t.Rows) > 0 && c.Case.ID == r.Counters[0].Case {
		t.Remarks = []string{whatIsCounted}
	}
	return t.fold("device").withoutZeros()
}

// withoutZeros leaves out the columns that may go and count nothing in any row.
func (t Table) withoutZeros() Table {
	used := map[string]bool{}
	for _, row := range t.Rows {
		for i, v := range row.Cells {
			if n, ok := v.Data.(int64); v.Data != nil && (!ok || n != 0) {
				used[t.Columns[i].Key] = true
			}
		}
	}
	return t.without(func(c Column) bool { return used[c.Key] || c.Drop == 0 })
}

// exactly writes a count in full below a million, with four digits above.
func exactly(n int64) Value { return number(wholeText(n), n) }

func wholeText(n int64) string {
	if n < 1_000_000 {
		s := fmt.Sprint(n)
		if len(s) > 3 {
			s = s[:len(s)-3] + "\u00a0" + s[len(s)-3:]
		}
		return s
	}
	x, units := float64(n)/1e6, []string{"M", "G", "T", "P"}
	for len(units) > 1 && x >= 999.95 {
		x, units = x/1000, units[1:]
	}
	return significant(x, 4) + " " + units[0]
}

// conflicts marks that there are any.
func conflicts(n int64) Value {
	v := exactly(n)
	if n > 0 {
		v.Tone = Caution
	}
	return v
}

// overIdeal marks twice as much traffic as is needed, and more.
func overIdeal(x *float64) Value {
	if x == nil {
		return none()
	}
	v := number(fixed(*x, 2), *x)
	if *x >= 2 {
		v.Tone = Caution
	}
	return v
}

// percent3 writes a share with three digits, and 100 % only for all.
func percent3(f float64) string {
	if f < 1 && f >= 0.9995 {
		return "99.9 %"
	}
	return significant(f*100, 3) + " %"
}

// findingsTable lists what the checks found.
func (r *Report) findingsTable() Table {
	t := Table{ID: FindingsTable, Title: "What the checks found", Columns: []Column{
		{Key: "case", Head: "case", Drop: 3}, {Key: "arm", Head: "arm"}, {Key: "kind", Head: "kind"},
		{Key: "at", Head: "at"}, {Key: "source", Head: "source", Drop: 4},
		{Key: "block", Head: "block", Drop: 5}, {Key: "thread", Head: "thread", Drop: 6},
		{Key: "address", Head: "address", Drop: 7}, {Key: "count", Head: "times", Align: Right, Drop: 8},
		{Key: "detail", Head: "what", Prose: true}, {Key: "instruction", Head: "instruction", Prose: true, Drop: 2}}}
	for _, f := range r.Findings {
		address := none()
		if f.Space != "" {
			address = number(fmt.Sprintf("%#x", f.Address), f.Address)
		}
		t.Rows = append(t.Rows, Row{Cells: []Value{word(r.caseLabel(f.Case)), word(r.label(f.Arm)),
			word(string(f.Kind)).tone(Bad), word(fmt.Sprintf("%s:%d", f.File, f.Line)), word(f.Source),
			word(coordinates(f.Block)), word(coordinates(f.Thread)), address, number(fmt.Sprint(f.Count), f.Count),
			word(f.Detail), word(strings.TrimSpace(f.Instruction))}})
	}
	return t.compact()
}

func coordinates(p [3]uint32) string { return fmt.Sprintf("%d,%d,%d", p[0], p[1], p[2]) }
