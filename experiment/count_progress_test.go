package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mage/evidence"
)

// stopAt cancels a run when a case begins.
type stopAt struct {
	Silent
	index  int
	cancel context.CancelFunc
}

func (s *stopAt) Case(index int, _ string) {
	if index == s.index {
		s.cancel()
	}
}

// TestResumedCounts: a case that is done is not executed again, and a resumed record
// holds what one without interruption would.
func TestResumedCounts(t *testing.T) {
	text := endless + "[[case]]\ncontract = \"layernorm\"\nshapes = [\"small\"]\n"
	ctx, cancel := context.WithCancel(context.Background())
	a, b := &counter{fake: fake{name: "fake/a"}}, &counter{fake: fake{name: "fake/b"}}
	out, err := Run(ctx, parse(t, text), countingLab(0, a, b), Options{Results: t.TempDir(), Progress: &stopAt{index: 1, cancel: cancel}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	before := a.runs
	if out, err = Resume(context.Background(), out.Dir, countingLab(0, a, b), Options{}); err != nil || out.Failures != 0 {
		t.Fatal(err, out.Failures)
	}
	if before != 2 || a.runs != 4 {
		t.Errorf("%d executions before the interruption, %d in all", before, a.runs)
	}
	rec, err := evidence.LoadRecord(out.Dir)
	if err != nil || rec.Status != evidence.Complete {
		t.Fatal(err, rec)
	}
	whole := map[string]int{}
	for _, e := range rec.Entries {
		if len(e.Gates) == 3 && e.Counters != nil {
			whole[e.Case+e.Arm]++
		}
	}
	if len(whole) != 4 {
		t.Errorf("entries %v", whole)
	}
}

// stopIn cancels a run when a step begins.
type stopIn struct {
	Silent
	step   string
	cancel context.CancelFunc
}

func (s *stopIn) Step(what string) {
	if strings.HasPrefix(what, s.step) {
		s.cancel()
	}
}

// TestInterruptedCount: what an execution seems to have done wrong because it was
// interrupted is not retained, and a resumed record is as good as another.
func TestInterruptedCount(t *testing.T) {
	for _, step := range []string{"execute fake/b", "gate fake/b@driver"} {
		ctx, cancel := context.WithCancel(context.Background())
		a, b := &counter{fake: fake{name: "fake/a"}}, &counter{fake: fake{name: "fake/b"}, stopped: ctx}
		out, err := Run(ctx, parse(t, endless), countingLab(0, a, b), Options{Results: t.TempDir(), Progress: &stopIn{step: step, cancel: cancel}})
		if !errors.Is(err, context.Canceled) || out.Failures != 0 {
			t.Fatalf("%s: %v, %d failures", step, err, out.Failures)
		}
		b.stopped = nil
		if out, err = Resume(context.Background(), out.Dir, countingLab(0, a, b), Options{}); err != nil || out.Failures != 0 {
			t.Fatalf("%s: %v, %d failures", step, err, out.Failures)
		}
		r, err := evidence.Load(out.Dir)
		if err != nil || r.Record.Status != evidence.Complete || slices.ContainsFunc(r.Events, func(e evidence.Event) bool { return e.Level == "error" }) {
			t.Errorf("%s: %v, %s, events %+v", step, err, r.Record.Status, r.Events)
		}
	}
}

// TestFollow shows what a device says it does while it executes.
func TestFollow(t *testing.T) {
	shown := make(chan string, 8)
	r := &runner{progress: steps{shown: shown}}
	stop := r.follow("execute", &Untimed{Progress: func() string { return "block 1 of 2" }})
	if first, second := <-shown, <-shown; first != "execute" || second != "execute: block 1 of 2" {
		t.Errorf("%q, %q", first, second)
	}
	stop()
}

// notes keeps what is noted.
type notes struct {
	Silent
	all []string
}

func (n *notes) Note(line string) { n.all = append(n.all, line) }

// TestPrinted: what a kernel prints is shown of the execution that is counted, as
// plain lines, and not without end.
func TestPrinted(t *testing.T) {
	var n notes
	countedRun(t, endless, countingLab(0, &counter{fake: fake{name: "fake/a"}}, &counter{fake: fake{name: "fake/b"}}), &n)
	if len(n.all) != 2*(maxPrinted+1) || n.all[0] != `fake/a@driver printed: run 1` || n.all[maxPrinted] != "fake/a@driver printed 9 more lines" {
		t.Errorf("%d lines: %q", len(n.all), n.all)
	}
}

type steps struct {
	Silent
	shown chan string
}

func (s steps) Step(what string) { s.shown <- what }
