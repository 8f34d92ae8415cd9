package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mage/evidence"
	"mage/gate"
	"mage/impl"
	"mage/input"
	"mage/internal/printable"
	"mage/unavailable"
)

// Untimed is a device that measures no time and counts instead.
type Untimed struct {
	// Reason is why there are no times, for every arm on the device.
	Reason *unavailable.Error
	// MaxFLOPs is the arithmetic of the largest case that the device executes; one
	// that is much larger would take hours. 0: no limit.
	MaxFLOPs float64
	// Progress says what the device is doing, "" for nothing. Unlike the device it may
	// be asked from any goroutine; it may be nil.
	Progress func() string
}

// stageChecks is the stage of the gate that holds what a device's own checks
// (races, accesses out of bounds) found in all executions.
const stageChecks = "checks"

// count takes an arm on an untimed device through the gate. What is counted is
// counted exactly, so one execution says it all: its counters are retained, and
// what it left behind is judged, with one poison; the challenge judges a second
// one, with fresh inputs and another poison. An execution that ctx ended says
// nothing: what it seems to have done wrong is not retained.
func (w *caseWork) count(ctx context.Context, r *runner, e *entrant) {
	if err := gate.Prepare(e.op); err != nil {
		r.fail(w, e, 0, err.Error())
		return
	}
	stop := r.follow("execute "+e.arm.ID, e.arm.untimed)
	err := e.op.Run()
	stop()
	if ctx.Err() != nil {
		return
	}
	counting, counts := e.op.(impl.Counting)
	if counts {
		c := counting.Counters()
		e.entry.Counters = &c
		r.printed(e, counting.Printed())
		if !r.checked(w, e, counting) {
			// What a wrong kernel computed, and cost, is retained all the same.
			if res, err := gate.Check(e.op, w.at(gate.LeftBehind)); err == nil {
				e.entry.Gates = append(e.entry.Gates, res)
			}
			return
		}
	}
	if err != nil {
		r.fail(w, e, 0, "running: "+err.Error())
		return
	}
	if !r.gate(ctx, w, e, gate.LeftBehind) {
		return
	}
	stop = r.follow("gate "+e.arm.ID, e.arm.untimed)
	defer stop()
	if r.gate(ctx, w, e, gate.Challenge) && counts {
		e.entry.Gates = append(e.entry.Gates, gate.Result{Stage: stageChecks, Seed: w.c.Seed, Passed: true})
	}
}

// follow shows a step and, until it is stopped, what an untimed device is doing: there
// is no measurement to disturb. Nothing else is shown before it is stopped.
func (r *runner) follow(step string, u *Untimed) (stop func()) {
	r.progress.Step(step)
	if u.Progress == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if what := u.Progress(); what != "" {
					r.progress.Step(step + ": " + what)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// maxPrinted is how many lines of a kernel's printf are passed on.
const maxPrinted = 32

// printed passes on what the kernels of an arm printed.
func (r *runner) printed(e *entrant, text []byte) {
	if len(text) == 0 {
		return
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		if i == maxPrinted {
			r.progress.Note(fmt.Sprintf("%s printed %d more lines", e.arm.ID, len(lines)-i))
			return
		}
		r.progress.Note(e.arm.ID + " printed: " + printable.Line(line))
	}
}

// checked retains what the checks of a device found so far and reports whether
// that is nothing.
func (r *runner) checked(w *caseWork, e *entrant, op impl.Counting) bool {
	found := op.Findings()
	if len(found) == 0 {
		return true
	}
	e.entry.Findings = slices.Clone(found)
	why := found[0].String()
	if n := len(found) - 1; n > 0 {
		why += fmt.Sprintf(" (and %d more)", n)
	}
	e.entry.Gates = append(e.entry.Gates, gate.Result{Stage: stageChecks, Seed: w.c.Seed, Failure: why})
	r.fail(w, e, 0, stageChecks+": "+why)
	return false
}

// tooLarge says why an untimed device does not execute a case, if so.
func (u *Untimed) tooLarge(a arm, c input.Case) (evidence.Unavailable, bool) {
	if f := c.Contract.FLOPs(c.Dims); u.MaxFLOPs > 0 && f > u.MaxFLOPs {
		return evidence.Unavailable{
			What:   fmt.Sprintf("%s on %s", a.Implementation, a.Device),
			Reason: fmt.Sprintf("the case takes %.3g GFLOP; a device that measures no time is given %.3g at most, which take minutes", f/1e9, u.MaxFLOPs/1e9),
			Remedy: "choose a smaller shape, or a machine with an NVIDIA GPU",
		}, true
	}
	return evidence.Unavailable{}, false
}
