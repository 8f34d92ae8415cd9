package report

import (
	"fmt"
	"slices"
	"strings"

	"mage/timing"
)

// Launcher is one arm beside the arm that runs the very same binary (one SHA-256)
// through the Go driver, on one case and cache state.
type Launcher struct {
	Case           string         `json:"case"`
	Cache          string         `json:"cache"`
	Implementation string         `json:"implementation"`
	LaunchPath     string         `json:"launch_path"`
	Arm            string         `json:"arm"`
	Against        string         `json:"against"`
	Binary         string         `json:"binary_sha256"`
	Modes          []LauncherMode `json:"modes"`
}

// LauncherMode is the paired comparison in one timing mode: the effect and the
// verdict are those of the other launcher, held together over all launchers.
type LauncherMode struct {
	Mode    string  `json:"mode"`
	Effect  *Effect `json:"effect"`
	Verdict Verdict `json:"verdict"`

	cell *Cell
}

// driverPath is the launch path that the others are held against.
const driverPath = "driver"

// launchers pairs each arm with the one that launches its binary through the
// driver, in every mode that times the launch with events. It follows the
// comparison with the baseline, whose resolution it takes.
func (b *builder) launchers(all []*series) error {
	var out []Launcher
	var cells []*Cell
	for _, s := range all {
		base := b.sameBinary(all, s)
		if base == nil {
			continue
		}
		arm, other := pair(s, base)
		if len(arm) == 0 {
			continue
		}
		e, err := b.paired(base.Arm, arm, other, b.resolution(s))
		if err != nil {
			return fmt.Errorf("%s %s %s %s: %w", s.Case, s.Arm, s.Mode, s.Cache, err)
		}
		row := slices.IndexFunc(out, func(l Launcher) bool { return l.Case == s.Case && l.Arm == s.Arm && l.Cache == s.Cache })
		if row < 0 {
			row = len(out)
			a := b.arm(s.Arm)
			out = append(out, Launcher{Case: s.Case, Cache: s.Cache, Implementation: a.Implementation, LaunchPath: a.LaunchPath,
				Arm: s.Arm, Against: base.Arm, Binary: b.report.binary(s.Case, s.Arm)})
		}
		cell := &Cell{Effect: e}
		out[row].Modes = append(out[row].Modes, LauncherMode{Mode: s.Mode, Effect: e, cell: cell})
		cells = append(cells, cell)
	}
	if err := decide(cells, 1-b.opts.Confidence, b.rec.Plan); err != nil {
		return err
	}
	for _, l := range out {
		for k := range l.Modes {
			l.Modes[k].Verdict = l.Modes[k].cell.Verdict
		}
	}
	b.report.Launchers = out
	return nil
}

// resolution is what the A/A controls of a series' group tell from nothing, 0 if
// there are none.
func (b *builder) resolution(s *series) float64 {
	for _, c := range b.report.Cases {
		for _, g := range c.Groups {
			if c.Case.ID == s.Case && g.Mode == s.Mode && g.Cache == s.Cache && g.Instrument == s.Instrument && g.Device == s.device && g.Resolution != nil {
				return *g.Resolution
			}
		}
	}
	return 0
}

// sameBinary finds the driver's series with the implementation and binary of s in
// the same cell; nil if s is that itself, a control, or not an event-timed launch.
func (b *builder) sameBinary(all []*series, s *series) *series {
	a := b.arm(s.Arm)
	if a == nil || a.ControlOf != "" || a.LaunchPath == driverPath || s.Instrument != string(timing.CUDAEvent) {
		return nil
	}
	binary := b.report.binary(s.Case, s.Arm)
	if binary == "" {
		return nil
	}
	for _, o := range all {
		other := b.arm(o.Arm)
		if o.Case == s.Case && sameGroup(o, s) && other != nil && other.ControlOf == "" && other.LaunchPath == driverPath &&
			other.Implementation == a.Implementation && b.report.binary(o.Case, o.Arm) == binary {
			return o
		}
	}
	return nil
}

// launchersTable holds launchers of one binary against each other, and says
// whether one of them beats the driver.
func (r *Report) launchersTable() Table {
	t := Table{ID: LaunchersTable, Title: "Launchers of one binary: time over that of the Go driver with the same cubin or PTX",
		Columns: []Column{{Key: "case", Head: "case"}, {Key: "cache", Head: "cache"}, {Key: "implementation", Head: "kernel"},
			{Key: "launch_path", Head: "launcher"}, {Key: "binary_sha256", Head: "binary", Drop: 1}}}
	var modes, beaten []string
	counts := map[Verdict]int{}
	for _, l := range r.Launchers {
		for _, m := range l.Modes {
			if !slices.Contains(modes, m.Mode) {
				modes = append(modes, m.Mode)
			}
			counts[m.Verdict]++
			if m.Verdict == Faster {
				beaten = append(beaten, fmt.Sprintf("%s %s of %s, %s %s", r.label(l.Arm), effectText(m.Effect), r.caseLabel(l.Case), m.Mode, l.Cache))
			}
		}
	}
	for _, m := range modes {
		t.Columns = append(t.Columns, Column{Key: m + "_ratio", Head: m, Align: Right}, Column{Key: m + "_verdict", Head: "verdict"})
	}
	last := ""
	for _, l := range r.Launchers {
		binary := word(short(l.Binary))
		binary.Data = l.Binary
		row := Row{Cells: []Value{word(r.caseLabel(l.Case)), word(l.Cache), word(l.Implementation), word(l.LaunchPath), binary}}
		row.Rule = last != "" && last != l.Case
		last = l.Case
		for _, mode := range modes {
			ratio, verdict := none(), none()
			for _, m := range l.Modes {
				if m.Mode == mode {
					ratio, verdict = word(effectText(m.Effect)), word(string(m.Verdict))
					ratio.Data = m.Effect.Ratio
				}
			}
			row.Cells = append(row.Cells, ratio, verdict)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return t
	}
	if len(beaten) == 0 {
		beaten = []string{"none"}
	}
	total := 0
	var said []string
	for _, v := range []Verdict{Faster, Slower, Equivalent, Indistinguishable, Undecided} {
		total += counts[v]
		said = append(said, fmt.Sprintf("%d %s", counts[v], v))
	}
	t.Remarks = append(t.Remarks, fmt.Sprintf("Faster than the Go driver with the same binary: %s. Of %d comparisons: %s.",
		strings.Join(beaten, "; "), total, strings.Join(said, ", ")))
	return t
}
