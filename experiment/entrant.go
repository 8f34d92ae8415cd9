package experiment

import (
	"context"
	"errors"
	"time"

	"mage/evidence"
	"mage/gate"
	"mage/impl"
)

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
