package report

import (
	"fmt"
	"strings"
)

// gatesTable says what the gate found.
func (r *Report) gatesTable() Table {
	t := Table{ID: GatesTable, Title: "Correctness gate", Columns: []Column{
		{Key: "case", Head: "case"}, {Key: "arm", Head: "arm"},
		{Key: "session", Head: "session", Align: Right, Drop: 3},
		{Key: "max_abs_error", Head: "max abs error", Align: Right},
		{Key: "checked", Head: "checked", Align: Right, Drop: 2},
		{Key: "stages", Head: "stages", Drop: 1}, {Key: "verdict", Head: "verdict"}}}
	last := ""
	for _, g := range r.Gates {
		var stages []string
		checked := 0
		for _, s := range g.Stages {
			stages = append(stages, s.Stage)
			checked += s.Checked
		}
		maxErr, n := none(), none()
		if len(g.Stages) > 0 {
			maxErr, n = number(fmt.Sprintf("%.1e", g.MaxAbsError), g.MaxAbsError), number(fmt.Sprint(checked), checked)
		}
		v := Value{Text: "passed", Data: "passed", Tone: Good}
		if !g.Passed {
			v = Value{Text: "failed", Data: "failed", Tone: Bad}
		} else if len(g.Stages) == 0 {
			v = Value{Text: "not run", Data: "not run", Tone: Caution}
		}
		if g.Error != "" {
			v.Marks = []int{t.footnote(g.Error)}
		}
		session := none()
		if r.Header.Sessions > 1 {
			session = number(fmt.Sprint(g.Session), g.Session)
		}
		c := word(r.caseLabel(g.Case))
		if g.Case == last {
			c.Text = ""
		}
		t.Rows = append(t.Rows, Row{Rule: g.Case != last && last != "", Cells: []Value{
			c, word(r.label(g.Arm)), session, maxErr, n, word(strings.Join(stages, ", ")), v}})
		last = g.Case
	}
	return t.compact()
}

// graphsTable gives the latency of whole graph replays.
func (r *Report) graphsTable() Table {
	t := Table{ID: GraphsTable, Title: "Graph replay, submit to completion",
		Columns: []Column{{Key: "case", Head: "case"}, {Key: "arm", Head: "arm"},
			{Key: "mode", Head: "mode"}, {Key: "cache", Head: "cache"}, {Key: "instrument", Head: "instrument"},
			{Key: "operations", Head: "operations", Align: Right},
			{Key: "launches", Head: "kernels per operation", Align: Right, Drop: 2},
			{Key: "replay_us", Head: "replay", Unit: "µs", Align: Right},
			{Key: "quartiles", Head: "quartiles", Align: Range, Drop: 1},
			{Key: "replays", Head: "replays", Align: Right, Drop: 3}}}
	for _, g := range r.Graphs {
		u := unitFor(g.ReplayUS)
		v, i := timeText(g.ReplayUS, &g.LowUS, &g.HighUS, u, timeDecimals(g.ReplayUS, &g.LowUS, &g.HighUS, u))
		launches := none()
		if g.Launches > 0 {
			launches = number(fmt.Sprint(g.Launches), g.Launches)
		}
		t.Rows = append(t.Rows, Row{Cells: []Value{word(r.caseLabel(g.Case)), word(r.label(g.Arm)),
			word(g.Mode), word(g.Cache), word(g.Instrument),
			number(fmt.Sprint(g.Operations), g.Operations), launches, number(v, g.ReplayUS),
			number(i, []float64{g.LowUS, g.HighUS}), number(fmt.Sprint(g.Replays), g.Replays)}})
	}
	return t.fold("mode", "cache", "instrument").compact()
}

// resourcesTable gives what the binaries need.
func (r *Report) resourcesTable() Table {
	t := Table{ID: ResourcesTable, Title: "Binaries and their resources", Columns: []Column{
		{Key: "case", Head: "case"}, {Key: "arm", Head: "arm", Prose: true},
		{Key: "registers", Head: "registers", Align: Right},
		{Key: "spills", Head: "spills", Unit: "B", Align: Right, Drop: 1},
		{Key: "shared_bytes", Head: "shared", Unit: "B", Align: Right, Drop: 2},
		{Key: "local_bytes", Head: "local", Unit: "B", Align: Right, Drop: 6},
		{Key: "block", Head: "block", Drop: 5}, {Key: "grid", Head: "grid", Drop: 7},
		{Key: "kind", Head: "kind", Drop: 8},
		{Key: "binary_sha256", Head: "binary"},
		{Key: "compile_ms", Head: "compile", Unit: "ms", Align: Right, Drop: 4},
		{Key: "compiler", Head: "compiler", Drop: 3}}}
	last := ""
	several := false // a case had more than one row: cases are set apart
	for _, x := range r.Resources {
		if x.Kind == "executable" && x.Registers == nil {
			continue // part of the program itself: nothing to say but its hash, which JSON keeps
		}
		labels := make([]string, len(x.Arms))
		for i, a := range x.Arms {
			labels[i] = r.label(a)
		}
		spills := none()
		if x.SpillLoads != nil && x.SpillStores != nil {
			n := *x.SpillLoads + *x.SpillStores
			spills = number(fmt.Sprintf("%d B", n), n)
			if n > 0 {
				spills.Tone = Caution
			}
		}
		compile := none()
		if x.CompileMS > 0 {
			compile = number(significant(x.CompileMS, 3)+" ms", x.CompileMS)
		}
		c := word(r.caseLabel(x.Case))
		if x.Case == last {
			c.Text = ""
		}
		several = last != "" && (several || x.Case == last)
		binary := word(short(x.Binary))
		binary.Data = x.Binary
		t.Rows = append(t.Rows, Row{Rule: x.Case != last && several, Cells: []Value{
			c, word(strings.Join(labels, ", ")), count(x.Registers, ""), spills,
			count(x.SharedBytes, " B"), count(x.LocalBytes, " B"), word(x.Block), word(x.Grid),
			word(x.Kind), binary, compile, word(x.Compiler)}})
		last = x.Case
	}
	return t.compact()
}

func count(n *int, unit string) Value {
	if n == nil {
		return none()
	}
	return number(fmt.Sprint(*n)+unit, *n)
}

// calibrationTable says what the instruments can resolve.
func (r *Report) calibrationTable() Table {
	t := Table{ID: CalibrationTable, Title: "Calibration of the instruments", Columns: []Column{
		{Key: "device", Head: "device"}, {Key: "session", Head: "session", Align: Right, Drop: 5},
		{Key: "event_overhead_us", Head: "empty event pair", Unit: "µs", Align: Right},
		{Key: "event_resolution_us", Head: "event step", Unit: "µs", Align: Right},
		{Key: "clock_overhead_us", Head: "host clock pair", Unit: "µs", Align: Right, Drop: 2},
		{Key: "clock_resolution_us", Head: "host clock step", Unit: "µs", Align: Right, Drop: 3},
		{Key: "flush", Head: "flush", Drop: 4},
		{Key: "read_hot_us", Head: "re-read hot", Unit: "µs", Align: Right, Drop: 1},
		{Key: "read_cold_us", Head: "after flush", Unit: "µs", Align: Right, Drop: 1},
		{Key: "flush_proved", Head: "flush proof"}}}
	for _, c := range r.Calibration {
		overhead := optionalTime(c.EventOverheadUS)
		if c.OverheadLowUS != nil && c.EventOverheadUS != nil {
			u := unitFor(*c.EventOverheadUS)
			overhead.Text, _ = timeText(*c.EventOverheadUS, nil, nil, u,
				timeDecimals(*c.EventOverheadUS, c.OverheadLowUS, c.OverheadHighUS, u))
		}
		flush, hot, cold := none(), none(), none()
		proof := Value{Text: absent, Data: nil, Tone: Faint}
		if c.FlushBytes > 0 || c.ReadColdUS > 0 {
			flush = number(bytesText(c.FlushBytes), c.FlushBytes)
			hot, cold = optionalTime(&c.ReadHotUS), optionalTime(&c.ReadColdUS)
			proof = Value{Text: "not proved", Data: false, Tone: Caution}
			if c.FlushProved {
				proof = Value{Text: "proved", Data: true, Tone: Good}
			}
			if c.ReadHotUS > 0 {
				proof.Text += fmt.Sprintf(", %s× slower", significant(c.ReadColdUS/c.ReadHotUS, 3))
			}
		}
		t.Rows = append(t.Rows, Row{Cells: []Value{word(c.Device), number(fmt.Sprint(c.Session), c.Session),
			overhead, optionalTime(c.EventResolutionUS), positiveTime(c.ClockOverheadUS),
			positiveTime(c.ClockResolutionUS), flush, hot, cold, proof}})
	}
	return t.compact()
}

func optionalTime(us *float64) Value {
	if us == nil {
		return none()
	}
	u := unitFor(*us)
	return number(significant(*us*u.perUS, 3)+" "+u.name, *us)
}

func positiveTime(us float64) Value {
	if us <= 0 {
		return none()
	}
	return optionalTime(&us)
}

// unavailableTable lists what the machine lacks, with everything that wanted it.
func (r *Report) unavailableTable() Table {
	t := Table{ID: UnavailableTable, Title: "Unavailable here", Columns: []Column{
		{Key: "what", Head: "what"}, {Key: "where", Head: "wanted by", Drop: 1, Prose: true},
		{Key: "reason", Head: "reason", Prose: true}, {Key: "remedy", Head: "remedy", Prose: true}}}
	for _, m := range r.Unavailable {
		where := strings.Join(m.Where, ", ")
		if len(m.Cases) > 0 {
			where += " (" + strings.Join(m.Cases, ", ") + ")"
		}
		t.Rows = append(t.Rows, Row{Cells: []Value{
			word(m.What), word(where), word(m.Reason), word(m.Remedy)}})
	}
	return t.compact()
}
