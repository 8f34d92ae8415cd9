package report

import (
	"fmt"
	"strings"

	"mage/evidence"
)

// overviewTable has one row per case and arm: does it work, and about how long
// does it take. It is drawn only when it is asked for; the comparison tables say
// everything that it says, and more.
func (r *Report) overviewTable() Table {
	t := Table{ID: OverviewTable, Title: "Every contract, every implementation", Columns: []Column{
		{Key: "contract", Head: "contract"}, {Key: "shape", Head: "shape"},
		{Key: "implementation", Head: "implementation"}, {Key: "device", Head: "device", Drop: 2},
		{Key: "max_abs_error", Head: "max abs error", Align: Right, Drop: 1},
		{Key: "verdict", Head: "verdict"}, {Key: "mode", Head: "mode", Drop: 3},
		{Key: "median_us", Head: "median", Unit: "µs", Align: Right},
		{Key: "interval", Head: trim(r.Header.Confidence*100) + " % interval", Align: Range, Drop: 1},
		{Key: "warp_instructions", Head: "warp instr.", Align: Right, Drop: 1},
		{Key: "sectors", Head: "sectors", Align: Right, Drop: 2},
		{Key: "sectors_over_ideal", Head: "× ideal", Unit: "1", Align: Right, Drop: 2},
		{Key: "bank_conflicts", Head: "bank conflicts", Align: Right, Drop: 6},
		{Key: "intensity", Head: "FLOP/B", Unit: "FLOP/B", Align: Right, Drop: 7}}}
	for i, c := range r.Cases {
		shape := strings.ReplaceAll(c.Case.Dims.Format(c.Case.DimOrder), ",", " ")
		first := true
		for _, g := range r.Gates {
			if g.Case != c.Case.ID {
				continue
			}
			row := []Value{{Data: c.Case.Contract}, {Data: shape}, word(r.label(g.Arm)), word(r.devices[g.Arm]),
				none(), Value{Text: "passed", Data: "passed", Tone: Good}, {}, {}, {}, {}, {}, {}, {}, {}}
			if first {
				row[0].Text, row[1].Text = c.Case.Contract, shape
			}
			if len(g.Stages) > 0 {
				row[4] = number(fmt.Sprintf("%.1e", g.MaxAbsError), g.MaxAbsError)
			}
			switch {
			case !g.Passed:
				row[5] = Value{Text: "failed", Data: "failed", Tone: Bad}
				if g.Error != "" {
					row[5].Marks = []int{t.footnote(g.Error)}
				}
			case len(g.Stages) == 0:
				row[5] = Value{Text: "not run", Data: "not run", Tone: Caution}
			}
			// An arm is timed or counted: what belongs to the other stays empty.
			if cell, group := c.firstCell(g.Arm); cell != nil {
				u := unitFor(*cell.MedianUS)
				v, interval := timeText(*cell.MedianUS, cell.LowUS, cell.HighUS, u,
					timeDecimals(*cell.MedianUS, cell.LowUS, cell.HighUS, u))
				row[6] = word(group.Mode + " " + group.Cache)
				row[7], row[8] = number(v, *cell.MedianUS), none()
				if interval != "" {
					row[8] = number(interval, []*float64{cell.LowUS, cell.HighUS})
				}
			}
			if x := r.counted(c.Case.ID, g.Arm); x != nil {
				k := x.Counters
				sectors := x.LoadSectors + x.StoreSectors
				copy(row[9:], []Value{exactly(x.WarpInstructions), exactly(sectors),
					overIdeal(over(sectors, k.GlobalLoads.Ideal+k.AsyncCopies.Ideal+k.GlobalStores.Ideal)),
					conflicts(x.BankConflicts), number(significant(x.Intensity, 3), x.Intensity)})
			}
			t.Rows = append(t.Rows, Row{Cells: row, Rule: first && i > 0})
			first = false
		}
	}
	if len(r.Counters) > 0 {
		t.Remarks = []string{whatIsCounted}
	}
	return t.fold("mode").compact()
}

// firstCell is the arm's first time on the case, in the order of the modes.
func (c CaseResult) firstCell(arm string) (*Cell, *Group) {
	for i := range c.Groups {
		g := &c.Groups[i]
		for j := range g.Cells {
			if g.Cells[j].Arm == arm && g.Cells[j].MedianUS != nil {
				return &g.Cells[j], g
			}
		}
	}
	return nil, nil
}

// armDevices names the device of each arm: "cpu", or a GPU by its name.
func armDevices(rec *evidence.Record) map[string]string {
	names := map[string]string{}
	for _, d := range rec.Devices {
		names[d.ID] = d.ID
		if d.Backend != "cpu" && d.Name != "" {
			names[d.ID] = d.Name
		}
	}
	out := map[string]string{}
	for _, a := range rec.Arms {
		out[a.ID] = names[a.Device]
	}
	return out
}
