package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mage/evidence"
	"mage/gate"
	"mage/timing"
)

// rounds measures until the planned number is reached, or the stopping rule of
// the spec is satisfied.
func (r *runner) rounds(ctx context.Context, w *caseWork) error {
	if !w.alive() {
		return nil // nothing here is measured in rounds
	}
	stop, err := r.newStopper(w)
	if err != nil {
		return err
	}
	began := time.Now()
	limit := r.spec.maxRounds()
	first := r.nextRound(w.id)
	for round := first; round <= limit; round++ {
		disturbed, err := r.roundUntilQuiet(ctx, w, round, stop.add)
		if err != nil {
			return err
		}
		done := round - first + 1
		left := time.Since(began) / time.Duration(done) * time.Duration(limit-round)
		r.progress.Round(round, limit, disturbed, left)
		if !w.alive() {
			return nil
		}
		if why := stop.look(w, round, time.Since(began)); why != "" {
			r.note("info", "stopped", w.id, "", round, why)
			return nil
		}
	}
	return nil
}

// nextRound is the first round that an earlier session did not finish.
func (r *runner) nextRound(id string) int {
	for round := 1; ; round++ {
		attempts, quiet := r.state.Complete(id, round)
		if attempts == 0 || (!quiet && (attempts < r.spec.Repeats || r.interrupted(id, round, attempts))) {
			return round
		}
	}
}

func (r *runner) interrupted(id string, round, attempt int) bool {
	return slices.ContainsFunc(r.state.Lines, func(l evidence.Line) bool {
		return l.Case == id && l.Round == round && l.Attempt == attempt && slices.Contains(l.Disturbed, interruptedLabel)
	})
}

// interruptedLabel marks what was measured of a round before it was stopped.
const interruptedLabel = "interrupted"

func (w *caseWork) alive() bool {
	return slices.ContainsFunc(w.entrants, (*entrant).timed)
}

// roundUntilQuiet measures one round, and again the cells of it that were
// disturbed. Every attempt is retained and then told; what disturbed the last one
// is returned.
func (r *runner) roundUntilQuiet(ctx context.Context, w *caseWork, round int, tell func(attempt []evidence.Line)) ([]string, error) {
	already, _ := r.state.Complete(w.id, round)
	first := already + 1
	again := r.unfinished(w.id, round) // nil for every cell
	for attempt := first; ; attempt++ {
		lines, err := r.round(ctx, w, round, attempt, again)
		if err != nil {
			// What was measured before the interruption is kept, and labelled.
			for i := range lines {
				lines[i].Disturbed = append(lines[i].Disturbed, interruptedLabel)
			}
		}
		// What failed is on disk first: a kill must not let the samples of a failed
		// arm stand without the reason.
		if w.news() != w.told {
			if werr := r.retainEntries(w); werr != nil {
				return nil, fmt.Errorf("round %d of %s: %w", round, w.id, werr)
			}
		}
		if len(lines) > 0 {
			if werr := r.w.AppendRound(lines); werr != nil {
				return nil, fmt.Errorf("round %d of %s: %w", round, w.id, werr)
			}
		}
		if err != nil {
			return nil, err
		}
		tell(lines)
		why := disturbedOf(lines)
		if len(why) == 0 {
			return nil, nil
		}
		r.note("info", "round-disturbed", w.id, "", round, strings.Join(why, "; "))
		if attempt-first+1 >= r.spec.Repeats {
			return why, nil
		}
		again = map[string]bool{}
		for _, l := range lines {
			if len(l.Disturbed) > 0 {
				again[l.Mode+" "+l.Cache] = true
			}
		}
	}
}

// unfinished names the cells in which an earlier session left no attempt at a round
// that counts; nil if it left none in any.
func (r *runner) unfinished(id string, round int) map[string]bool {
	if attempts, _ := r.state.Complete(id, round); attempts == 0 {
		return nil
	}
	again := map[string]bool{}
	for _, m := range r.modes {
		for _, c := range r.spec.Caches {
			if !r.state.Done(evidence.Cell{Case: id, Mode: m.String(), Cache: c}, round) {
				again[cellName(m, timing.Cache(c))] = true
			}
		}
	}
	return again
}

func disturbedOf(lines []evidence.Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Disturbed...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// round measures every arm once in every cell, or in those to measure again, in
// the round's order. Cells are the outer loop: arms that are compared are measured
// next to each other.
func (r *runner) round(ctx context.Context, w *caseWork, round, attempt int, again map[string]bool) ([]evidence.Line, error) {
	var lines []evidence.Line
	entrants := slices.DeleteFunc(slices.Clone(w.entrants), func(e *entrant) bool { return e.arm.untimed != nil })
	sequence := order(len(entrants), round)
	drawn := r.drawCells(w, entrants, again)
	for _, m := range r.modes {
		for _, cache := range r.spec.Caches {
			if again != nil && !again[cellName(m, timing.Cache(cache))] {
				continue
			}
			for position, i := range sequence {
				if err := ctx.Err(); err != nil {
					return lines, err
				}
				e := entrants[i]
				if e.op == nil || e.failed() || e.lacks[cellName(m, timing.Cache(cache))] {
					continue
				}
				r.progress.Step(fmt.Sprintf("%s %s %s", e.arm.ID, m, cache))
				judged := drawn == nil || slices.Contains(drawn[i], cellName(m, timing.Cache(cache)))
				if l, ok := r.cell(w, e, m, timing.Cache(cache), round, judged); ok {
					l.Attempt, l.Order = attempt, position
					lines = append(lines, l)
				}
			}
		}
	}
	return lines, nil
}

// cell measures one arm in one mode and cache state and, if judged, gates what
// the timed region left behind. Nothing in the region can tell whether it will be.
func (r *runner) cell(w *caseWork, e *entrant, m timing.Mode, cache timing.Cache, round int, judged bool) (evidence.Line, bool) {
	// Every other round poisons with what looks like a result, so that nothing
	// can tell a judged region by its poison.
	judge := w.at(gate.LeftBehind)
	prepare := gate.Prepare
	if judge.Decoy = round%2 == 0; judge.Decoy {
		prepare = gate.PrepareDecoy
	}
	if err := prepare(e.op); err != nil {
		r.fail(w, e, round, err.Error())
		return evidence.Line{}, false
	}
	before := r.rested(e.arm)
	reading, err := e.op.Measure(r.request(e, m, cache))
	after, _ := e.arm.impl.State()
	if u, ok := lack(err); ok {
		e.lacks[cellName(m, cache)] = true
		if !slices.Contains(e.entry.Unavailable, u) { // the other cache state may lack the same
			e.entry.Unavailable = append(e.entry.Unavailable, u)
		}
		return evidence.Line{}, false
	}
	if err != nil {
		r.fail(w, e, round, fmt.Sprintf("measuring %s %s: %v", m, cache, err))
		return evidence.Line{}, false
	}
	if judged {
		res, err := gate.Check(e.op, judge)
		if err != nil {
			r.fail(w, e, round, err.Error())
			return evidence.Line{}, false
		}
		e.keepWorst(res)
		if !res.Passed {
			r.fail(w, e, round, fmt.Sprintf("gate (left behind by %s %s): %s", m, cache, res.Failure))
		}
	}
	l := evidence.Line{
		Round: round, Case: w.id, Arm: e.arm.ID,
		Mode: m.String(), Cache: string(cache),
		Instrument: string(reading.Instrument),
		Operations: reading.Operations, Launches: reading.Launches,
		Before: before, After: after,
		Samples: reading.Samples, ReplayUS: reading.ReplayUS, Unjudged: !judged,
	}
	history := r.clocks[e.arm.Device]
	l.Disturbed = disturbances(before, after, history.usual(), r.company[e.arm.Device])
	if len(l.Disturbed) == 0 && history != nil {
		history.add(after)
	}
	return l, true
}

// keepWorst retains one left-behind result per entry: the first failure, else
// the largest error seen.
func (e *entrant) keepWorst(res gate.Result) {
	for i, g := range e.entry.Gates {
		if g.Stage == res.Stage {
			if g.Passed && (!res.Passed || res.MaxAbsError > g.MaxAbsError) {
				e.entry.Gates[i] = res
			}
			return
		}
	}
	e.entry.Gates = append(e.entry.Gates, res)
}

// request fits the plan's counts to an operation's length: one that takes longer
// than the budget is sampled once a round, without further warm-up, and the
// rounds give the spread.
func (r *runner) request(e *entrant, m timing.Mode, cache timing.Cache) timing.Request {
	budget := float64(r.spec.Budget.Microseconds())
	fit := func(n int, us float64) int {
		if us <= 0 {
			return n
		}
		return min(n, int(budget/us))
	}
	sample := e.onceUS * float64(m.N)
	return timing.Request{
		Mode: m, Cache: cache,
		Warmup:     fit(r.spec.Warmup, e.onceUS),
		Samples:    r.spec.Samples,
		MinSamples: max(1, fit(r.spec.MinSamples, sample)),
		BudgetUS:   budget,
		OnceUS:     e.onceUS,
		LimitUS:    float64(r.spec.MaxSample.Microseconds()),
	}
}
