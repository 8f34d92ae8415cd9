package report

import (
	"fmt"
	"slices"

	"mage/evidence"
	"mage/stats"
)

// gates lists what the gate said, in the order of cases and arms.
func gates(rec *evidence.Record) []GateResult {
	var out []GateResult
	for _, e := range ordered(rec) {
		g := GateResult{Case: e.Case, Arm: e.Arm, Session: e.Session, Stages: e.Gates, Error: e.Error,
			Passed: e.Error == ""}
		for _, s := range e.Gates {
			g.MaxAbsError = max(g.MaxAbsError, s.MaxAbsError)
			if !s.Passed {
				g.Passed = false
				if g.Error == "" {
					g.Error = s.Failure
				}
			}
		}
		if len(e.Gates) == 0 && e.Error == "" {
			if len(e.Unavailable) > 0 || rec.Imported != nil {
				continue // nothing ran, or nothing was published; the table of what is unavailable says so
			}
			g.Passed = false
		}
		out = append(out, g)
	}
	return out
}

// ordered returns the entries in the order of the record's cases and arms.
func ordered(rec *evidence.Record) []evidence.Entry {
	caseRank, armRank := map[string]int{}, map[string]int{}
	for i, c := range rec.Cases {
		caseRank[c.ID] = i
	}
	for i, a := range rec.Arms {
		armRank[a.ID] = i
	}
	out := slices.Clone(rec.Entries)
	slices.SortStableFunc(out, func(a, b evidence.Entry) int {
		return slices.Compare([]int{caseRank[a.Case], armRank[a.Arm], a.Session},
			[]int{caseRank[b.Case], armRank[b.Arm], b.Session})
	})
	return out
}

// resources lists binaries; an arm and its control, which run the same one with
// the same configuration, share a row.
func resources(rec *evidence.Record) []Resource {
	var out []Resource
	for _, e := range ordered(rec) {
		x := resource(e)
		if x.Binary == "" && x.Registers == nil && x.Compiler == "" {
			continue
		}
		same := slices.IndexFunc(out, func(o Resource) bool {
			return o.Case == x.Case && o.Binary != "" && o.Binary == x.Binary && o.Kind == x.Kind && o.Entry == x.Entry &&
				o.Grid == x.Grid && o.Block == x.Block
		})
		if same < 0 {
			out = append(out, x)
		} else if !slices.Contains(out[same].Arms, e.Arm) {
			out[same].Arms = append(out[same].Arms, e.Arm)
		}
	}
	return out
}

func resource(e evidence.Entry) Resource {
	id := e.Identity
	x := Resource{Case: e.Case, Arms: []string{e.Arm}, Compiler: id.Compiler, CompileMS: id.CompileMS, LoadMS: id.LoadMS,
		Binary: id.BinarySHA256, Kind: id.BinaryKind, Source: id.SourceSHA256, Entry: id.Entry,
		SpillLoads: id.SpillLoad, SpillStores: id.SpillStor}
	if id.Grid != nil {
		x.Grid = shape(*id.Grid)
	}
	if id.Block != nil {
		x.Block = shape(*id.Block)
	}
	if a := id.Resources; a != nil {
		shared := a.StaticSharedBytes + id.Shared
		x.SharedBytes, x.LocalBytes = &shared, &a.LocalBytes
		if a.Registers > 0 { // PTX has none: the compiler behind it assigns them
			x.Registers = &a.Registers
		}
	}
	return x
}

// shape writes a grid or block as "24×4096", trailing ones left out.
func shape(d [3]uint32) string {
	n := 3
	for n > 1 && d[n-1] == 1 {
		n--
	}
	s := fmt.Sprint(d[0])
	for _, x := range d[1:n] {
		s += fmt.Sprintf("×%d", x)
	}
	return s
}

// graphs lists the replay latencies.
func graphs(all []*series) []GraphResult {
	var out []GraphResult
	for _, s := range all {
		if len(s.replayUS) == 0 {
			continue
		}
		x := slices.Clone(s.replayUS)
		slices.Sort(x)
		out = append(out, GraphResult{Case: s.Case, Arm: s.Arm, Mode: s.Mode, Cache: s.Cache,
			Operations: s.operations, Launches: s.launches, Replays: len(x), ReplayUS: stats.Median(x),
			LowUS: quantile(x, 0.25), HighUS: quantile(x, 0.75), Instrument: "host-clock"})
	}
	return out
}

// quantile interpolates linearly in ascending x.
func quantile(x []float64, q float64) float64 {
	h := q * float64(len(x)-1)
	i := int(h)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (h-float64(i))*(x[i+1]-x[i])
}

func calibrations(rec *evidence.Record) []Calibration {
	var out []Calibration
	for _, c := range rec.Calibration {
		x := Calibration{Calibration: c}
		if s := slices.Clone(c.EventOverheadSamples); len(s) > 1 {
			slices.Sort(s)
			lo, hi := quantile(s, 0.25), quantile(s, 0.75)
			x.OverheadLowUS, x.OverheadHighUS = &lo, &hi
		}
		x.EventOverheadSamples = nil
		out = append(out, x)
	}
	return out
}

// missing lists what was unavailable, each thing once with the arms that lacked
// it, in their order. A thing that an arm lacked in some of its cases only, such
// as a mode whose samples would take too long there, names these.
func missing(rec *evidence.Record) []Missing {
	var out []Missing
	labels, names := armLabels(rec.Arms), caseLabels(rec.Cases)
	measured := map[string]int{} // cases that an arm has an entry of
	add := func(u evidence.Unavailable, where string) *Missing {
		i := slices.IndexFunc(out, func(m Missing) bool {
			return m.What == u.What && m.Reason == u.Reason && m.Remedy == u.Remedy && slices.Equal(m.Where, []string{where})
		})
		if i < 0 {
			out = append(out, Missing{What: u.What, Reason: u.Reason, Remedy: u.Remedy, Where: []string{where}})
			i = len(out) - 1
		}
		return &out[i]
	}
	for _, u := range rec.Unavailable {
		add(u, "")
	}
	for _, a := range rec.Arms {
		if a.Unavailable != nil {
			add(*a.Unavailable, labels[a.ID])
		}
	}
	seen := map[[2]string]bool{}
	for _, e := range ordered(rec) {
		if k := [2]string{e.Case, e.Arm}; !seen[k] {
			seen[k] = true
			measured[labels[e.Arm]]++
		}
		for _, u := range e.Unavailable {
			m := add(u, labels[e.Arm])
			if name := names[e.Case]; !slices.Contains(m.Cases, name) {
				m.Cases = append(m.Cases, name)
			}
		}
	}
	return joined(out, measured)
}

// joined makes one of the things that several arms lacked in the same cases.
func joined(each []Missing, measured map[string]int) []Missing {
	var out []Missing
	for _, m := range each {
		if m.Where[0] == "" {
			m.Where = nil
		} else if len(m.Cases) == measured[m.Where[0]] {
			m.Cases = nil
		}
		i := slices.IndexFunc(out, func(o Missing) bool {
			return m.What == o.What && m.Reason == o.Reason && m.Remedy == o.Remedy && slices.Equal(m.Cases, o.Cases)
		})
		if i < 0 {
			out = append(out, m)
		} else {
			out[i].Where = append(out[i].Where, m.Where...)
		}
	}
	return out
}
