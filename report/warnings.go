package report

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mage/evidence"
	"mage/stats"
)

// The kinds of warning that this package adds to those of package stats.
const (
	IncompleteRecord = "incomplete-record"
	IdenticalBinary  = "identical-binary"
	DisturbedRounds  = "disturbed-rounds"
	FewerRounds      = "fewer-rounds"
	BelowFloor       = "below-floor"
	FailedArm        = "failed"
	FlushNotProved   = "flush-not-proved"
)

// fromStats makes a warning of one of package stats: its text is the same for
// every cell, so that a table needs one footnote for it; the detail has the
// numbers.
func fromStats(w stats.Warning) Warning {
	out := Warning{Kind: string(w.Code), Severity: Warn, Text: string(w.Code), Detail: w.Detail}
	if t, ok := map[stats.Code]string{
		stats.FewRounds:       "few rounds: the verdict leans on the shape of the distribution",
		stats.NoSpread:        "no spread: the timer's step hides it",
		stats.BelowResolution: "below the resolution of the A/A control",
		stats.DependentRounds: "neighbouring rounds are alike: the interval is too narrow",
		stats.ControlDiffers:  "the A/A control differs from itself",
		stats.Drift:           "times drift within a round",
		stats.Autocorrelation: "neighbouring samples are alike",
		stats.Bimodal:         "samples fall into two groups",
		stats.WideSpread:      "samples spread wider than the effect",
		stats.TimerLimited:    "near the timer's step or overhead",
		stats.Impossible:      "below the physical floor",
		stats.ClockMismatch:   "instruments contradict each other",
	}[w.Code]; ok {
		out.Text = t
	}
	if w.Fatal() {
		out.Severity = Error
	}
	return out
}

// annotate adds the warnings that need more than one cell or the record.
func (b *builder) annotate(all []*series) {
	byKey := map[seriesKey]*series{}
	for _, s := range all {
		byKey[s.seriesKey] = s
	}
	var work []func()
	for i := range b.report.Cases {
		c := &b.report.Cases[i]
		for j := range c.Groups {
			g := &c.Groups[j]
			for k := range g.Cells {
				cell := &g.Cells[k]
				s := byKey[seriesKey{c.Case.ID, cell.Arm, g.Mode, g.Cache, g.Instrument}]
				work = append(work, func() { b.annotateCell(c.Case.ID, g, cell, s) })
			}
		}
	}
	onEveryCore(work)
	for i := range b.report.Cases {
		b.clocks(&b.report.Cases[i])
	}
}

// onEveryCore runs functions that do not depend on each other.
func onEveryCore(work []func()) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(work)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(work) {
					return
				}
				work[i]()
			}
		})
	}
	wg.Wait()
}

func (b *builder) annotateCell(caseID string, g *Group, cell *Cell, s *series) {
	add := func(ws ...Warning) { cell.Warnings = append(cell.Warnings, ws...) }
	add(b.inspect(g, cell, s)...)
	if cell.Verdict == Impossible {
		add(Warning{Kind: BelowFloor, Severity: Error, Text: "impossible: excluded from every verdict", Detail: cell.Why})
	}
	if len(s.disturbed) > 0 {
		add(disturbedWarning(s))
	}
	if n := b.rec.Plan.Rounds; cell.Rounds > 0 && cell.Rounds < n {
		add(Warning{Kind: FewerRounds, Severity: Note, Text: fmt.Sprintf("fewer than the %d planned rounds count", n),
			Detail: fmt.Sprintf("%d of %d", cell.Rounds, n)})
	}
	if w, ok := b.identical(caseID, cell.Arm); ok {
		add(w)
	}
}

// disturbedWarning says how often and why rounds of a cell were disturbed.
func disturbedWarning(s *series) Warning {
	var why []string
	for _, l := range s.disturbed {
		for _, d := range l.Disturbed {
			if !slices.Contains(why, d) {
				why = append(why, d)
			}
		}
	}
	slices.Sort(why)
	if len(why) == 0 {
		why = []string{"in another arm"}
	}
	detail := fmt.Sprintf("%d, %s", len(s.disturbed), strings.Join(why, ", "))
	return Warning{Kind: DisturbedRounds, Severity: Note, Text: "attempts at rounds were disturbed and do not count", Detail: detail}
}

// identical says which other arms run the same device binary on a case.
func (b *builder) identical(caseID, arm string) (Warning, bool) {
	entry := func(id string) *evidence.Entry {
		for i := range b.rec.Entries {
			if e := &b.rec.Entries[i]; e.Case == caseID && e.Arm == id {
				return e
			}
		}
		return nil
	}
	mine := entry(arm)
	if mine == nil || mine.Identity.BinarySHA256 == "" || b.arm(arm).ControlOf != "" ||
		mine.Identity.BinaryKind != "cubin" && mine.Identity.BinaryKind != "ptx" {
		return Warning{}, false
	}
	var same, alike []string
	for _, a := range b.rec.Arms {
		o := entry(a.ID)
		if o == nil || a.ID == arm || a.ControlOf != "" ||
			o.Identity.BinarySHA256 != mine.Identity.BinarySHA256 || o.Identity.BinaryKind != mine.Identity.BinaryKind {
			continue
		}
		x, y := resource(*mine), resource(*o)
		if x.Entry == y.Entry && x.Grid == y.Grid && x.Block == y.Block && mine.Identity.Shared == o.Identity.Shared {
			same = append(same, b.report.label(a.ID))
		} else {
			alike = append(alike, b.report.label(a.ID))
		}
	}
	var texts []string
	if len(same) > 0 {
		texts = append(texts, "identical binary and launch configuration as "+strings.Join(same, ", "))
	}
	if len(alike) > 0 {
		texts = append(texts, "identical binary, launched differently, as "+strings.Join(alike, ", "))
	}
	if len(texts) == 0 {
		return Warning{}, false
	}
	return Warning{Kind: IdenticalBinary, Severity: Note, Text: strings.Join(texts, "; "),
		Detail: mine.Identity.BinaryKind + " " + short(mine.Identity.BinarySHA256)}, true
}

// allWarnings adds to out those of the record and those of the cells: errors first,
// then warnings, then notes, each in the order of the tables.
func (b *builder) allWarnings(run *evidence.Run, out []Warning) []Warning {
	if b.rec.Status != evidence.Complete {
		text := "the record is incomplete"
		if b.rec.Status == evidence.Running {
			text = "the record is being written, or its writer was killed"
		}
		out = append(out, Warning{Kind: IncompleteRecord, Severity: Warn, Text: text, Detail: b.rec.Reason})
	}
	out = append(out, importedWarnings(b.rec)...)
	for _, w := range run.Warnings {
		if w.What == evidence.NotFinished || w.What == evidence.StoppedEarly || w.What == evidence.UnknownCell {
			continue // said here in other words
		}
		out = append(out, Warning{Kind: w.What, Severity: Warn, Text: w.Detail})
	}
	if n := strangers(run); n > 0 {
		out = append(out, Warning{Kind: evidence.UnknownCell, Severity: Error,
			Text:   "samples of an arm or a case that the record does not list are left out",
			Detail: fmt.Sprintf("%d lines", n)})
	}
	for _, c := range b.rec.Calibration {
		if c.FlushBytes > 0 && !c.FlushProved {
			out = append(out, Warning{Kind: FlushNotProved, Severity: Warn, Text: "cold numbers may not be cold",
				Detail: fmt.Sprintf("on %s a re-read after the flush takes %s µs, a hot one %s µs",
					c.Device, significant(c.ReadColdUS, 3), significant(c.ReadHotUS, 3))})
		}
	}
	for _, g := range b.report.Gates {
		if g.Error != "" {
			out = append(out, Warning{Kind: FailedArm, Severity: Error, Text: g.Error, Case: g.Case, Arm: g.Arm})
		}
	}
	for _, e := range run.Events {
		told := slices.ContainsFunc(b.report.Gates, func(g GateResult) bool {
			return g.Error != "" && g.Case == e.Case && g.Arm == e.Arm
		})
		if e.Level == "error" && !told {
			out = append(out, Warning{Kind: e.What, Severity: Error, Text: e.Detail, Case: e.Case, Arm: e.Arm})
		}
	}
	for _, c := range b.report.Cases {
		for _, g := range c.Groups {
			for _, cell := range g.Cells {
				for _, w := range cell.Warnings {
					w.Case, w.Arm, w.Mode, w.Cache = c.Case.ID, cell.Arm, g.Mode, g.Cache
					out = append(out, w)
				}
			}
		}
	}
	rank := map[Severity]int{Error: 0, Warn: 1, Note: 2}
	slices.SortStableFunc(out, func(x, y Warning) int { return rank[x.Severity] - rank[y.Severity] })
	return out
}
