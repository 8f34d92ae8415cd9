package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"mage/evidence"
	"mage/gate"
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
