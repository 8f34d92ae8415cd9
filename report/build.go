package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mage/contract"
	"mage/evidence"
	"mage/floor"
	"mage/roofline"
	"mage/stats"
	"mage/timing"
)

// Options of Build. The zero value takes margin and confidence from the record's
// plan.
type Options struct {
	Margin     float64 // 0: the plan's
	Confidence float64 // 0: the plan's, or 0.95
	Resamples  int     // of the bootstrap; 0: the default of package stats
	// Roofs are ceilings that were measured of a device of the record, for a table of
	// what lies how near to them; nil: no such table.
	Roofs *roofline.Roofs

	// only restricts the report to these arms and baseline replaces the plan's;
	// what disturbed the other arms still disturbs the round.
	only     []string
	baseline []string
}

func (o Options) withPlan(p evidence.Plan) Options {
	if o.Margin == 0 {
		o.Margin = p.Margin
	}
	if o.Confidence == 0 {
		o.Confidence = p.Confidence
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	return o
}

// stats returns the options of one comparison. The record's seed makes the same
// record give the same intervals.
func (o Options) stats(p evidence.Plan, resolution float64) stats.Options {
	return stats.Options{Confidence: o.Confidence, Margin: o.Margin, Resolution: resolution,
		Resamples: o.Resamples, Seed: p.Seed}
}

// Build judges a record: every table of the report follows from run alone. It
// fails on samples in another unit than microseconds and on times that are not
// positive; samples that name an arm or case that the record does not list are
// left out with a warning.
func Build(run *evidence.Run, o Options) (*Report, error) {
	rec := run.Record
	o = o.withPlan(rec.Plan)
	all, err := collect(run)
	if err != nil {
		return nil, err
	}
	if o.only != nil {
		all = slices.DeleteFunc(all, func(s *series) bool { return !slices.Contains(o.only, s.Arm) })
	}
	if o.baseline == nil {
		o.baseline = rec.Plan.Baseline
	}
	r := &Report{arms: armLabels(rec.Arms), cases: caseLabels(rec.Cases), devices: armDevices(rec), outputs: outputNotes(rec)}
	r.Header = header(rec, all, o)
	b := &builder{rec: rec, opts: o, report: r, failed: failures(run)}
	r.Counters, r.Findings = counters(rec), findings(rec)
	if err := b.compare(all); err != nil {
		return nil, err
	}
	b.annotate(all)
	r.Gates = gates(rec)
	r.Resources, r.Captures = resources(rec), run.Captures
	if rec.Imported == nil { // else nothing says which arms are one kernel
		r.LaunchPaths = r.launchPaths()
		if err := b.launchers(all); err != nil {
			return nil, err
		}
	}
	if o.Roofs != nil {
		if err := b.placeUnder(*o.Roofs); err != nil {
			return nil, err
		}
	}
	r.Graphs = graphs(all)
	r.Calibration = calibrations(rec)
	r.Unavailable = missing(rec)
	r.Warnings = b.allWarnings(run, r.Warnings)
	return r, nil
}

// builder carries what judging needs.
type builder struct {
	rec    *evidence.Record
	opts   Options
	report *Report
	failed map[failureKey]string
}

func (b *builder) arm(id string) *evidence.Arm {
	for i := range b.rec.Arms {
		if b.rec.Arms[i].ID == id {
			return &b.rec.Arms[i]
		}
	}
	return nil
}

func (b *builder) device(id string) evidence.Device {
	for _, d := range b.rec.Devices {
		if d.ID == id {
			return d
		}
	}
	return evidence.Device{ID: id}
}

func (b *builder) calibration(device string) *evidence.Calibration {
	for i := range b.rec.Calibration {
		if b.rec.Calibration[i].Device == device {
			return &b.rec.Calibration[i]
		}
	}
	return nil
}

// cell describes one series without comparing it.
func (b *builder) cell(c *evidence.Case, s *series) (Cell, error) {
	arm := b.arm(s.Arm)
	cell := Cell{Arm: s.Arm, Implementation: arm.Implementation, LaunchPath: arm.LaunchPath,
		Rounds: len(s.counted), Disturbed: len(s.disturbed), Samples: s.sampleCount(),
		Operations: s.operations, Launches: s.launches, RoundUS: s.medians()}
	for _, m := range s.counted {
		cell.iterations = append(cell.iterations, len(m.Samples)*max(1, m.Operations))
	}
	if cell.Rounds == 0 {
		cell.Verdict, cell.Why = NoRounds, "every attempt was disturbed"
		if s.removed > 0 {
			cell.Verdict, cell.Why = Failed, b.failure(s.Case, s.Arm)
		}
		return cell, nil
	}
	sum, err := stats.Summarize(cell.RoundUS, b.opts.Confidence)
	if err != nil {
		return cell, fmt.Errorf("%s %s %s %s: %w", s.Case, s.Arm, s.Mode, s.Cache, err)
	}
	cell.MedianUS = &sum.Median
	if finite(sum.Lo) && finite(sum.Hi) {
		cell.LowUS, cell.HighUS = &sum.Lo, &sum.Hi
	}
	if kind(s.Mode) == timing.Submit { // it does not time the work
		return cell, nil
	}
	rates(&cell, c, sum.Median)
	f := floor.Of(floor.Work{FLOPs: c.FLOPs, Bytes: c.CompulsoryBytes, Written: written(c), FP32: c.Precision == "fp32"},
		b.device(s.device).Info, s.Cache == string(timing.Cold))
	if f.Bound != floor.None {
		share := f.US / sum.Median
		cell.FloorUS, cell.Bound, cell.OfFloor = &f.US, f.Bound, &share
		if w, impossible := stats.BelowFloor(sum.Median, f.US); impossible {
			cell.Verdict, cell.Why = Impossible, w.Detail
		}
	}
	return cell, nil
}

// written is how many of a case's compulsory bytes are its output's: at most all,
// for a contract that this version does not know.
func written(c *evidence.Case) int64 {
	k, err := contract.Find(c.Contract, contract.Precision(c.Precision))
	if err != nil || k.CheckDims(c.Dims) != nil {
		return c.CompulsoryBytes
	}
	return int64(k.Output(c.Dims).Bytes())
}

func rates(cell *Cell, c *evidence.Case, us float64) {
	if !(us > 0) {
		return
	}
	if c.FLOPs > 0 {
		x := c.FLOPs / us / 1e3
		cell.GFLOPS = &x
	}
	if c.CompulsoryBytes > 0 {
		x := float64(c.CompulsoryBytes) / us / 1e3
		cell.GBps = &x
	}
}

// failure says why an arm's samples of a case were removed, in the first session
// in which they were, or "".
func (b *builder) failure(caseID, arm string) string {
	first, why := math.MaxInt, ""
	for k, w := range b.failed {
		if k.Case == caseID && k.Arm == arm && k.Session < first {
			first, why = k.Session, w
		}
	}
	return why
}

// kind is a mode without its count; an unknown mode is its own kind.
func kind(mode string) timing.Kind {
	name, _, _ := strings.Cut(mode, ":")
	return timing.Kind(name)
}

// armLabels names each arm as shortly as is unambiguous: by its implementation,
// or by its ID where two arms share one.
func armLabels(arms []evidence.Arm) map[string]string {
	count := map[string]int{}
	for _, a := range arms {
		if a.ControlOf == "" {
			count[a.Implementation]++
		}
	}
	out := map[string]string{}
	for _, a := range arms {
		label := a.Implementation
		if count[label] > 1 || label == "" {
			label = a.ID
		}
		if a.ControlOf != "" {
			if count[a.Implementation] > 1 {
				label = a.ControlOf
			}
			label += " (again)"
		}
		out[a.ID] = label
	}
	return out
}

// caseLabels names each case as shortly as is unambiguous.
func caseLabels(cases []evidence.Case) map[string]string {
	short := func(c evidence.Case) string {
		dims := make([]string, len(c.DimOrder))
		for i, d := range c.DimOrder {
			dims[i] = fmt.Sprint(c.Dims[d])
		}
		return c.Contract + " " + strings.Join(dims, "×")
	}
	long := func(c evidence.Case) string { return short(c) + " " + c.Precision + " " + c.Distribution }
	out := map[string]string{}
	for _, name := range []func(evidence.Case) string{short, long} {
		count := map[string]int{}
		for _, c := range cases {
			count[name(c)]++
		}
		for _, c := range cases {
			if _, done := out[c.ID]; !done && count[name(c)] == 1 {
				out[c.ID] = name(c)
			}
		}
	}
	return out
}

func (r *Report) label(arm string) string {
	if l, ok := r.arms[arm]; ok {
		return l
	}
	return arm
}

func (r *Report) caseLabel(id string) string {
	if l, ok := r.cases[id]; ok {
		return l
	}
	return id
}

func header(rec *evidence.Record, all []*series, o Options) Header {
	h := Header{Namespace: rec.Namespace, RunID: rec.RunID, Status: rec.Status, Reason: rec.Reason,
		Created: rec.Created, Updated: rec.Updated, Sessions: len(rec.Sessions),
		Devices: slices.Clone(rec.Devices), Host: rec.Host, Versions: rec.Versions, Tool: rec.Tool,
		Imported: rec.Imported, SpecName: rec.Spec.Name, SpecSHA256: rec.Spec.SHA256,
		PlannedRounds: rec.Plan.Rounds, MaxRounds: rec.Plan.MaxRounds,
		Margin: o.Margin, Confidence: o.Confidence, Cells: len(all)}
	for _, s := range all {
		h.Rounds += len(s.counted)
		h.Disturbed += len(s.disturbed)
		h.Samples += s.sampleCount()
	}
	return h
}
