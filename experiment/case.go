package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"mage/evidence"
	"mage/gate"
	"mage/impl"
	"mage/input"
	"mage/timing"
)

// caseWork is one case in progress: its inputs, its references and the arms
// that are opened for it.
type caseWork struct {
	id       string
	c        input.Case
	checks   gate.Spec // inputs and reference that are timed
	fresh    gate.Spec // other inputs, which no operation has seen before
	entrants []*entrant
	// bytes of the inputs and the output: what judging one cell compares.
	bytes int
	told  int // the failures and lacks that the record holds
}

// entrant is an arm on this case.
type entrant struct {
	arm   arm
	op    impl.Operation
	entry evidence.Entry
	// lacks holds the cells (mode × cache) that are unavailable.
	lacks map[string]bool
	// undrawn are the cells of a large case whose turn to be judged is to come, in
	// that order.
	undrawn []string
	// onceUS is the host time of one operation, for planning only.
	onceUS float64
}

func (e *entrant) failed() bool { return e.entry.Error != "" }

// timed says whether the arm takes part in rounds.
func (e *entrant) timed() bool { return e.op != nil && !e.failed() && e.arm.untimed == nil }

// runCase performs one case, or what is left of it. An error is one of the run
// (no disk, cancelled); an arm that fails is noted in its entry alone.
func (r *runner) runCase(ctx context.Context, c input.Case) error {
	id := CaseID(c)
	if r.caseDone(id) {
		return nil
	}
	w, err := r.prepare(id, c)
	if err != nil {
		return err
	}
	defer w.close(r)
	for _, a := range r.arms {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.impl == nil {
			continue // its reason stands in the record's arms
		}
		r.progress.Step("gate " + a.ID)
		w.enter(ctx, r, a)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := r.retainEntries(w); err != nil {
		return err
	}
	if err := r.rounds(ctx, w); err != nil {
		// The samples that an interruption leaves keep the gates they passed. The
		// first error is the cause of another.
		_ = r.retainEntries(w)
		return err
	}
	for _, e := range w.entrants {
		if e.timed() {
			r.gateAfter(ctx, w, e)
		}
	}
	if err := r.retainEntries(w); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // a gate may have been cut short
		return err
	}
	r.note("info", caseDoneEvent, id, "", 0, "")
	return nil
}

// caseDoneEvent marks a case that a resumed run need not open again.
const caseDoneEvent = "case-done"

func (r *runner) caseDone(id string) bool {
	return slices.ContainsFunc(r.state.Events, func(e evidence.Event) bool {
		return e.What == caseDoneEvent && e.Case == id
	})
}

// prepare generates inputs, computes references and retains the case.
func (r *runner) prepare(id string, c input.Case) (*caseWork, error) {
	set, err := input.Generate(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	r.progress.Step("reference " + id)
	w := &caseWork{id: id, c: c, bytes: c.Contract.Output(c.Dims).Bytes()}
	for _, t := range set.Tensors {
		w.bytes += len(t.Data)
	}
	if r.anyRuns(c) { // a reference may take as long as what it judges
		if err := r.references(w, set); err != nil {
			return nil, fmt.Errorf("%s: challenge inputs: %w", id, err)
		}
	} else {
		w.checks = gate.Spec{Contract: c.Contract, Dims: c.Dims, Inputs: set.Tensors, Seed: c.Seed}
	}
	if slices.ContainsFunc(r.w.Record().Cases, func(k evidence.Case) bool { return k.ID == id }) {
		return w, nil
	}
	k := c.Contract
	return w, r.w.Update(func(rec *evidence.Record) {
		rec.Cases = append(rec.Cases, evidence.Case{
			ID: id, Contract: k.Name(), Precision: string(k.Precision()),
			Dims: c.Dims, DimOrder: k.DimNames(), Distribution: c.Distribution, Seed: c.Seed,
			InputSHA256: set.SHA256, FLOPs: k.FLOPs(c.Dims),
			CompulsoryBytes: k.CompulsoryBytes(c.Dims, set.Tensors), Tolerance: k.Tolerance(),
		})
	})
}

// anyRuns reports whether any arm takes a case on.
func (r *runner) anyRuns(c input.Case) bool {
	return slices.ContainsFunc(r.arms, func(a arm) bool {
		if a.impl == nil || a.untimed == nil {
			return a.impl != nil
		}
		_, large := a.untimed.tooLarge(a, c)
		return !large
	})
}

// references computes what results are judged by, with the case's inputs and with
// fresh ones.
func (r *runner) references(w *caseWork, set input.Set) error {
	w.checks = r.gateSpec(w.c, set, true)
	other := w.c
	// The seed of the challenge is drawn anew, so that nothing can be prepared
	// for it; the record keeps it.
	other.Seed = w.c.Seed + 1 + rand.Uint64N(1<<32)
	otherSet, err := input.Generate(other)
	if err != nil {
		return err
	}
	w.fresh = r.gateSpec(other, otherSet, false)
	return nil
}

// gateSpec computes the reference, which is kept only for inputs that will be
// asked for again.
func (r *runner) gateSpec(c input.Case, set input.Set, keep bool) gate.Spec {
	spec := gate.Spec{Contract: c.Contract, Dims: c.Dims, Inputs: set.Tensors, Seed: c.Seed}
	if !keep {
		spec.Reference = c.Contract.Reference(c.Dims, set.Tensors)
		return spec
	}
	var warning error
	if spec.Reference, warning = r.opt.Cache.Reference(c.Contract, c.Dims, set.Tensors); warning != nil {
		r.note("warning", "reference-cache", CaseID(c), "", 0, warning.Error())
	}
	return spec
}

// enter opens an arm and gates it; whatever goes wrong ends in its entry.
func (w *caseWork) enter(ctx context.Context, r *runner, a arm) {
	e := &entrant{arm: a, lacks: map[string]bool{},
		entry: evidence.Entry{Case: w.id, Arm: a.ID, Session: r.session}}
	w.entrants = append(w.entrants, e)
	if a.untimed != nil {
		e.entry.Unavailable = append(e.entry.Unavailable, *unavailableRecord(a.untimed.Reason))
		if u, large := a.untimed.tooLarge(a, w.c); large {
			e.entry.Unavailable = append(e.entry.Unavailable, u)
			return
		}
	}
	op, err := a.impl.Open(w.c.Contract, w.c.Dims, w.checks.Inputs)
	if err != nil {
		if u, ok := lack(err); ok {
			e.entry.Unavailable = append(e.entry.Unavailable, u)
		} else {
			r.fail(w, e, 0, "opening: "+err.Error())
		}
		return
	}
	e.op = op
	e.entry.Identity = op.Identity()
	if err := r.sameBinary(e); err != nil {
		r.fail(w, e, 0, err.Error())
		return
	}
	if a.untimed != nil {
		w.count(ctx, r, e)
		return
	}
	if !r.gate(ctx, w, e, gate.Before) || !r.gate(ctx, w, e, gate.Challenge) {
		return
	}
	t0 := time.Now()
	if err := op.Run(); err != nil {
		r.fail(w, e, 0, "running: "+err.Error())
		return
	}
	e.onceUS = float64(time.Since(t0).Nanoseconds()) / 1e3
}

// gate applies one stage and retains its result; it reports whether it passed.
func (r *runner) gate(ctx context.Context, w *caseWork, e *entrant, stage string) bool {
	res, err := gate.Check(e.op, w.at(stage))
	if err != nil && ctx.Err() != nil {
		return false // it may be what ended the operation
	}
	if u, ok := lack(err); ok { // a program that finds no device says so when it runs
		e.entry.Unavailable = append(e.entry.Unavailable, u)
		_ = e.op.Close()
		e.op = nil
		return false
	}
	if c, ok := e.op.(impl.Counting); ok && !r.checked(w, e, c) {
		return false
	}
	if err != nil {
		r.fail(w, e, 0, err.Error())
		return false
	}
	e.entry.Gates = append(e.entry.Gates, res)
	if !res.Passed {
		r.fail(w, e, 0, "gate ("+res.Stage+"): "+res.Failure)
	}
	return res.Passed
}

// at is what an operation is checked against in a stage.
func (w *caseWork) at(stage string) gate.Spec {
	spec := w.checks
	if stage == gate.Challenge {
		spec = w.fresh
		spec.Restore = w.checks.Inputs
	}
	spec.Stage = stage
	return spec
}

// gateAfter challenges an arm again after its last timing: a result that was
// cached from the first gate is no answer to inputs that changed since.
func (r *runner) gateAfter(ctx context.Context, w *caseWork, e *entrant) {
	r.progress.Step("gate " + e.arm.ID)
	r.gate(ctx, w, e, gate.Challenge)
}

func (r *runner) fail(w *caseWork, e *entrant, round int, why string) {
	if e.entry.Error == "" {
		e.entry.Error = why
	}
	r.note("error", "arm-failed", w.id, e.arm.ID, round, why)
}

// sameBinary refuses to continue a resumed case with another binary.
func (r *runner) sameBinary(e *entrant) error {
	if !r.resumed {
		return nil
	}
	for _, old := range r.w.Record().Entries {
		if old.Case != e.entry.Case || old.Arm != e.entry.Arm || old.Identity.BinaryKind == "executable" {
			continue
		}
		if was, is := old.Identity.BinarySHA256, e.entry.Identity.BinarySHA256; was != "" && was != is {
			return errors.New("the binary is not the one that this record was begun with")
		}
	}
	return nil
}

func cellName(m timing.Mode, c timing.Cache) string { return m.String() + " " + string(c) }

// news counts the failures and lacks of the case so far.
func (w *caseWork) news() int {
	n := 0
	for _, e := range w.entrants {
		n += len(e.entry.Unavailable)
		if e.failed() {
			n++
		}
	}
	return n
}

// retainEntries writes this session's entries of the case into the record.
func (r *runner) retainEntries(w *caseWork) error {
	w.told = w.news()
	return r.w.Update(func(rec *evidence.Record) {
		for _, e := range w.entrants {
			i := slices.IndexFunc(rec.Entries, func(k evidence.Entry) bool {
				return k.Case == w.id && k.Arm == e.entry.Arm && k.Session == e.entry.Session
			})
			if i < 0 {
				rec.Entries = append(rec.Entries, e.entry)
			} else {
				rec.Entries[i] = e.entry
			}
		}
	})
}

func (w *caseWork) close(r *runner) {
	for _, e := range w.entrants {
		if e.op == nil {
			continue
		}
		if err := e.op.Close(); err != nil && !e.failed() {
			r.note("warning", "close-failed", w.id, e.arm.ID, 0, err.Error())
		}
	}
}
