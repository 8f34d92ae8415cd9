package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mage/contract/refcache"
	"mage/evidence"
	"mage/gate"
	"mage/timing"
	"mage/unavailable"
)

// Options say where a run keeps things and whom it tells.
type Options struct {
	Results  string         // root of the records: "results"
	Cache    refcache.Cache // of references; the zero value computes every time
	Progress Progress       // nil: Silent
}

// Outcome is what became of a run.
type Outcome struct {
	Dir string
	// Failures counts the arms × cases of the whole record, earlier sessions
	// included, that ended in an error: a gate that did not pass, a launch that
	// failed. An unavailable arm is not a failure.
	Failures int
}

// Run performs the declared experiment into a new record. It returns the outcome
// of what was done also with an error; on cancellation the record is marked
// incomplete and the error is the context's.
func Run(ctx context.Context, spec *Spec, lab *Lab, opt Options) (Outcome, error) {
	r, err := newRunner(spec, lab, opt)
	if err != nil {
		return Outcome{}, err
	}
	w, err := evidence.Create(opt.Results, spec.Namespace, r.record())
	if err != nil {
		return Outcome{}, fmt.Errorf("new record: %w", err)
	}
	r.w, r.session, r.state = w, w.Session(), &evidence.State{Run: &evidence.Run{}}
	return r.finish(r.all(ctx))
}

// Resume finishes an incomplete record with the spec that it retains. The
// machine must offer the same devices and the same binaries; on one that does
// not, the record is left as it is.
func Resume(ctx context.Context, dir string, lab *Lab, opt Options) (Outcome, error) {
	rec, err := evidence.LoadRecord(dir)
	if err != nil {
		return Outcome{}, err
	}
	var r *runner
	if rec.Status != evidence.Complete {
		if r, err = resumer(rec, lab, opt); err != nil {
			return Outcome{}, fmt.Errorf("resume %s: %w", rec.RunID, err)
		}
	}
	w, state, err := evidence.Resume(dir)
	if err != nil {
		return Outcome{}, err // that it is complete, for one
	}
	r.w, r.state, r.session, r.resumed = w, state, w.Session(), true
	return r.finish(r.all(ctx))
}

// resumer returns a runner for what a record declares, if this laboratory can
// go on with it.
func resumer(rec *evidence.Record, lab *Lab, opt Options) (*runner, error) {
	spec, err := ParseSpec(rec.Spec.Name, rec.Spec.Text)
	if err != nil {
		return nil, err
	}
	if err := sameDevices(rec.Devices, lab.Devices); err != nil {
		return nil, err
	}
	return newRunner(spec, lab, opt)
}

func sameDevices(before, now []evidence.Device) error {
	for _, b := range before {
		found := false
		for _, n := range now {
			found = found || (n.ID == b.ID && n.Name == b.Name && n.UUID == b.UUID)
		}
		if !found {
			return fmt.Errorf("the record was begun on %s (%s %s), which this machine does not offer", b.ID, b.Name, b.UUID)
		}
	}
	return nil
}

type runner struct {
	spec     *Spec
	lab      *Lab
	opt      Options
	progress Progress
	arms     []arm
	modes    []timing.Mode
	w        *evidence.Writer
	state    *evidence.State
	session  int
	resumed  bool
	clocks   map[string]*clockHistory
	company  map[string]int  // other processes on each device at the start
	tired    map[string]bool // devices that no rest helped
	sleep    func(time.Duration)
}

func newRunner(spec *Spec, lab *Lab, opt Options) (*runner, error) {
	r := &runner{spec: spec, lab: lab, opt: opt, progress: opt.Progress,
		clocks: map[string]*clockHistory{}, company: map[string]int{}, tired: map[string]bool{}, sleep: time.Sleep}
	if r.progress == nil {
		r.progress = Silent{}
	}
	var err error
	if r.arms, err = spec.arms(lab); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.arms, func(a arm) bool { return a.impl != nil }) {
		// A record without a single number would only look like an answer.
		first := r.arms[0].Unavailable
		return nil, unavailable.New("every implementation of "+spec.Name, first.What+": "+first.Reason, first.Remedy)
	}
	for _, m := range spec.Modes {
		mode, err := timing.ParseMode(m)
		if err != nil {
			return nil, err
		}
		r.modes = append(r.modes, mode)
	}
	return r, nil
}

// record is the beginning of record.json; cases and entries follow as they run.
func (r *runner) record() evidence.Record {
	s := r.spec
	rec := evidence.Record{
		Namespace: s.Namespace,
		Tool:      r.lab.Tool, Host: r.lab.Host, Devices: r.lab.Devices, Versions: r.lab.Versions,
		Spec: evidence.Spec{Name: s.Name, SHA256: s.Hash(), Text: s.Text},
		Plan: evidence.Plan{
			Seed: s.Seed, Rounds: s.Rounds, MaxRounds: s.maxRounds(), Repeats: s.Repeats,
			Samples: s.Samples, MinSamples: s.MinSamples, Warmup: s.Warmup,
			BudgetUS: float64(s.Budget.Microseconds()), Margin: s.Margin, Confidence: s.Confidence,
			Stop: s.Stop != nil, Baseline: s.Baseline, Modes: s.Modes, Caches: s.Caches,
		},
	}
	for _, a := range r.arms {
		rec.Arms = append(rec.Arms, a.Arm)
	}
	for _, n := range r.lab.Notices {
		rec.Unavailable = append(rec.Unavailable, *unavailableRecord(n))
	}
	return rec
}

func (s *Spec) maxRounds() int {
	if s.Stop != nil {
		return s.Stop.MaxRounds
	}
	return s.Rounds
}

// finish closes the record with the status that err calls for.
func (r *runner) finish(err error) (Outcome, error) {
	out := Outcome{Dir: r.w.Dir(), Failures: failures(r.w.Record().Entries)}
	status, reason := evidence.Complete, ""
	switch {
	case errors.Is(err, context.Canceled):
		status, reason = evidence.Incomplete, "interrupted"
	case err != nil:
		status, reason = evidence.Incomplete, err.Error()
	}
	// The first error is the cause of the others.
	for _, end := range []error{r.w.Finish(status, reason), r.w.Close()} {
		if err == nil && end != nil {
			err = fmt.Errorf("closing the record: %w", end)
		}
	}
	return out, err
}

// failures counts the arms × cases that failed. A later session makes up for a
// device that broke down, but not for a gate: what computed a wrong result once
// is not to be trusted.
func failures(entries []evidence.Entry) int {
	type key struct{ caseID, arm string }
	failed, wrong := map[key]bool{}, map[key]bool{}
	for _, e := range entries { // in the order of their sessions
		k := key{e.Case, e.Arm}
		wrong[k] = wrong[k] || slices.ContainsFunc(e.Gates, func(g gate.Result) bool { return !g.Passed })
		failed[k] = e.Error != "" || wrong[k]
	}
	n := 0
	for _, bad := range failed {
		if bad {
			n++
		}
	}
	return n
}

// all is one session's work: calibration, then every case.
func (r *runner) all(ctx context.Context) error {
	cases, err := r.spec.Plan()
	if err != nil {
		return err
	}
	r.progress.Started(r.w.Dir(), len(cases))
	if err := r.calibrate(); err != nil {
		return err
	}
	for i, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.progress.Case(i, CaseID(c))
		if err := r.runCase(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// calibrate measures every device that has an arm to time, once a session.
func (r *runner) calibrate() error {
	done := map[string]bool{}
	for _, a := range r.arms {
		if a.impl == nil || a.untimed != nil || done[a.Device] {
			continue
		}
		done[a.Device] = true
		r.progress.Step("calibrating " + a.Device)
		c, err := r.lab.Calibrate(a.Device)
		if err != nil {
			r.note("error", "calibration-failed", "", a.ID, 0, err.Error())
			continue
		}
		if s, err := a.impl.State(); err == nil && s.OtherProcesses != nil {
			r.company[a.Device] = *s.OtherProcesses
		}
		r.clocks[a.Device] = &clockHistory{}
		if err := r.w.Update(func(rec *evidence.Record) {
			rec.Calibration = append(rec.Calibration, evidence.Calibration{
				Device: a.Device, Session: r.session,
				EventOverheadUS: c.EventOverheadUS, EventOverheadSamples: c.EventOverheadSamples,
				EventResolutionUS: c.EventResolutionUS,
				ClockOverheadUS:   c.ClockOverheadUS, ClockResolutionUS: c.ClockResolutionUS,
				FlushBytes: c.FlushBytes, ReadBytes: c.ReadBytes,
				ReadHotUS: c.ReadHotUS, ReadColdUS: c.ReadColdUS, FlushProved: c.FlushProved,
			})
		}); err != nil {
			return err
		}
		if !c.FlushProved {
			r.note("warning", "flush-not-proved", "", a.ID, 0, fmt.Sprintf(
				"re-reading %d bytes took %.2f µs hot and %.2f µs after the flush", c.ReadBytes, c.ReadHotUS, c.ReadColdUS))
		}
	}
	return nil
}

// note retains an event and passes warnings and errors on to the user. A failure
// to write it will be met again by the next round's write.
func (r *runner) note(level, what, caseID, armID string, round int, detail string) {
	_ = r.w.Event(evidence.Event{Level: level, What: what, Case: caseID, Arm: armID, Round: round, Detail: detail})
	if level != "info" {
		line := what
		for _, s := range []string{caseID, armID, detail} {
			if s != "" {
				line += " · " + s
			}
		}
		r.progress.Note(level + ": " + line)
	}
}

// lack converts an unavailable error for the record; ok says whether it was one.
func lack(err error) (evidence.Unavailable, bool) {
	if u, ok := unavailable.As(err); ok {
		return *unavailableRecord(u), true
	}
	return evidence.Unavailable{}, false
}
