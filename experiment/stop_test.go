package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mage/evidence"
	"mage/gpu"
	"mage/report"
	"mage/timing"
)

// stopped returns why the rounds of the record's first case ended early.
func stopped(run *evidence.Run) string {
	for _, e := range run.Events {
		if e.What == "stopped" && e.Case == run.Record.Cases[0].ID {
			return e.Detail
		}
	}
	return ""
}

func TestStoppingRuleEndsWhenDecided(t *testing.T) {
	text := strings.Replace(fakeSpec, "[[case]]", "[stop]\nmax_rounds = 40\n[[case]]", 1)
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	noise := 0
	jitter := func(o *fakeOperation, _ timing.Request) error {
		// A small, varying time lets the intervals have a width.
		noise++
		o.fake.us *= 1 + 0.001*float64(noise%3-1)
		return nil
	}
	a.measured, b.measured = jitter, jitter
	out, err := Run(context.Background(), parse(t, text), lab(a, b), Options{Results: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	run := load(t, out.Dir)
	last := 0
	for _, l := range run.Lines {
		last = max(last, l.Round)
	}
	if last < 5 || last >= 40 {
		t.Errorf("a factor of two was decided after %d rounds", last)
	}
	if !slices.ContainsFunc(run.Events, func(e evidence.Event) bool { return e.What == "stopped" && e.Detail != "" }) {
		t.Error("no event says why it stopped")
	}
}

// The report leaves disturbed rounds out. A rule that counted them would stop at
// a verdict that the report does not have.
func TestStoppingRuleAgreesWithTheReport(t *testing.T) {
	text := strings.Replace(fakeSpec, "rounds = 3\n", "rounds = 5\nmargin = 0.03\n", 1)
	text = strings.Replace(text, "[[case]]", "[stop]\nmax_rounds = 40\n[[case]]", 1)
	decided, lost := 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 9}
		for _, f := range []*fake{a, b} {
			us := f.us
			f.measured = func(*fakeOperation, timing.Request) error {
				f.us = us * (1 + 0.03*rng.NormFloat64())
				return nil
			}
			for range 4000 {
				steal := 0.0
				if rng.IntN(12) == 0 {
					steal = 40
				}
				f.states = append(f.states, gpu.State{StealPct: &steal})
			}
		}
		out, err := Run(context.Background(), parse(t, text), lab(a, b), Options{Results: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		run := load(t, out.Dir)
		r, err := report.Build(run, report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		why := stopped(run)
		if !strings.HasPrefix(why, "every comparison is decided") {
			continue
		}
		decided++
		for _, g := range r.Cases[0].Groups {
			for _, cell := range g.Cells {
				lost += cell.Disturbed
				if v := cell.Verdict; v == report.Undecided || v == report.Indistinguishable {
					t.Errorf("seed %d: %s, but %s %s is %s after %d rounds", seed, why, cell.Arm, g.Mode, v, cell.Rounds)
				}
			}
		}
	}
	if decided < 3 || lost == 0 {
		t.Errorf("%d runs were decided and %d rounds disturbed: nothing was tested", decided, lost)
	}
}

func TestStopperCountsTheLastQuietAttempt(t *testing.T) {
	text := strings.Replace(fakeSpec, "[[case]]", "[stop]\nmax_rounds = 40\n[[case]]", 1)
	r, err := newRunner(parse(t, text), lab(&fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.state = &evidence.State{Run: &evidence.Run{}}
	s, err := r.newStopper(&caseWork{id: "c"})
	if err != nil {
		t.Fatal(err)
	}
	attempt := func(round int, disturbed string, a, b float64) {
		var lines []evidence.Line
		for _, mode := range []string{"latency", "span"} {
			for arm, us := range map[string]float64{"a": a, "b": b} {
				l := evidence.Line{Case: "c", Arm: arm, Mode: mode, Cache: "hot", Round: round, Samples: []float64{us}}
				if mode == disturbed && arm == "a" {
					l.Disturbed = []string{"steal"}
				}
				lines = append(lines, l)
			}
		}
		s.add(lines)
	}
	attempt(1, "", 10, 5)
	attempt(2, "span", 20, 6)    // again, and better
	attempt(2, "latency", 30, 7) // counts where it was quiet
	attempt(3, "span", 40, 8)    // lost to span
	for mode, want := range map[string]string{"latency": "[10 20 40] [5 6 8]", "span": "[10 30] [5 7]"} {
		x, y := s.medians(evidence.Cell{Case: "c", Mode: mode, Cache: "hot"}, "a", "b")
		if got := fmt.Sprint(x, y); got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
	}
}

func TestTimeLimitHoldsWithoutAnythingToCompare(t *testing.T) {
	text := strings.Replace(fakeSpec, `["fake/a", "fake/b", "cuda/first"]`, `["fake/a"]`, 1)
	text = strings.Replace(text, "[[case]]", "[stop]\nmax_rounds = 40\nmax_time = \"1ns\"\n[[case]]", 1)
	out, err := Run(context.Background(), parse(t, text), lab(&fake{name: "fake/a", us: 10}), Options{Results: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if run := load(t, out.Dir); !strings.HasPrefix(stopped(run), "max_time") {
		t.Errorf("stopped: %q", stopped(run))
	}
}
