package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/timing"
)

func TestInterruptThenResume(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cells := 0
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	b.measured = func(*fakeOperation, timing.Request) error {
		if cells++; cells == 3 { // in round 2 of the first case
			cancel()
		}
		return nil
	}
	out, err := Run(ctx, parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	run := load(t, out.Dir)
	if run.Record.Status != evidence.Incomplete || run.Record.Reason != "interrupted" {
		t.Errorf("status %s (%s)", run.Record.Status, run.Record.Reason)
	}
	kept := len(run.Lines)
	for _, e := range run.Record.Entries {
		// Round 1 of the arm was judged: the record says how.
		if !slices.ContainsFunc(e.Gates, func(g gate.Result) bool { return g.Stage == gate.LeftBehind && g.Passed }) {
			t.Errorf("%s: the gates of an interrupted case are %+v", e.Arm, e.Gates)
		}
	}
	b.measured = nil
	if _, err := Resume(context.Background(), out.Dir, lab(a), Options{}); err == nil {
		t.Error("resumed without an arm that the spec names")
	}
	out, err = Resume(context.Background(), out.Dir, lab(a, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	run = load(t, out.Dir)
	if run.Record.Status != evidence.Complete {
		t.Errorf("status %s (%s)", run.Record.Status, run.Record.Reason)
	}
	whole := map[string]int{}
	for i, l := range run.Lines {
		if slices.Contains(l.Disturbed, interruptedLabel) != (i < kept && l.Round == 2) {
			t.Errorf("line %d (round %d): disturbed %v", i, l.Round, l.Disturbed)
		}
		if len(l.Disturbed) == 0 {
			whole[l.Case]++
		}
	}
	for _, c := range run.Record.Cases {
		if whole[c.ID] != 3*6 {
			t.Errorf("%s: %d quiet lines, want 18", c.ID, whole[c.ID])
		}
	}
	if _, err := Resume(context.Background(), out.Dir, lab(a, b), Options{}); err == nil {
		t.Error("resumed a complete record")
	}
}

// What was quiet in a round is not measured again, neither in the attempt that
// follows nor by the session that goes on after an interruption of that.
func TestResumeInARepeatedAttempt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	spans, busy := 0, 50.0
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	b.measured = func(_ *fakeOperation, req timing.Request) error {
		if req.Mode.Kind == timing.Span {
			switch spans++; spans {
			case 2: // in round 2 of the first case
				b.states = []gpu.State{{StealPct: &busy}, {}}
			case 3: // in the second attempt
				cancel()
			}
		}
		return nil
	}
	out, err := Run(ctx, parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if out, err = Resume(context.Background(), out.Dir, lab(a, b), Options{}); err != nil {
		t.Fatal(err)
	}
	run := load(t, out.Dir)
	attempts := map[string][]int{}
	for _, l := range run.Lines {
		if l.Case == run.Record.Cases[0].ID && l.Round == 2 && l.Arm == "fake/b@go" {
			attempts[l.Mode] = append(attempts[l.Mode], l.Attempt)
		}
	}
	if !slices.Equal(attempts["latency"], []int{1}) || !slices.Equal(attempts["span"], []int{1, 2, 3}) {
		t.Errorf("attempts at round 2: %v", attempts)
	}
	for _, c := range run.Cells() {
		if rounds := run.Rounds(c); len(rounds) != 3 {
			t.Errorf("%s: %d rounds count, want 3", c, len(rounds))
		}
	}
}

func TestResumeRefusesAnotherBinary(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, b := &fake{name: "fake/a", us: 10, sha: "1111"}, &fake{name: "fake/b", us: 5}
	b.measured = func(*fakeOperation, timing.Request) error { cancel(); return nil }
	out, err := Run(ctx, parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.measured, a.sha = nil, "2222"
	out, err = Resume(context.Background(), out.Dir, lab(a, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// In the case that was begun the changed arm and its control must not go on.
	if out.Failures != 2 {
		t.Errorf("%d failures, want 2", out.Failures)
	}
}

func TestResumeRefusesAnotherDevice(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	b.measured = func(*fakeOperation, timing.Request) error { cancel(); return nil }
	out, _ := Run(ctx, parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	other := lab(a, b)
	other.Devices[0].Name = "another processor"
	if _, err := Resume(context.Background(), out.Dir, other, Options{}); err == nil || !strings.Contains(err.Error(), "does not offer") {
		t.Errorf("resumed on another device: %v", err)
	}
}
