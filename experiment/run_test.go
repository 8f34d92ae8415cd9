package experiment

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/timing"
	"mage/unavailable"
)

func parse(t *testing.T, text string) *Spec {
	t.Helper()
	s, err := ParseSpec("test.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func load(t *testing.T, dir string) *evidence.Run {
	t.Helper()
	run, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestRunRetainsEverything(t *testing.T) {
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5, lacks: map[timing.Kind]bool{timing.Span: true}}
	out, err := Run(context.Background(), parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	if err != nil || out.Failures != 0 {
		t.Fatal(out, err)
	}
	run := load(t, out.Dir)
	rec := run.Record
	if rec.Status != evidence.Complete || len(rec.Cases) != 2 || len(rec.Calibration) != 1 {
		t.Errorf("status %s, %d cases, %d calibrations", rec.Status, len(rec.Cases), len(rec.Calibration))
	}
	// Arms: a, its control (the baseline by default), b, and the lacking one.
	var ids []string
	for _, m := range rec.Arms {
		ids = append(ids, m.ID)
	}
	if got := strings.Join(ids, " "); got != "fake/a@go fake/a@go#control fake/b@go cuda/first" {
		t.Errorf("arms %s", got)
	}
	if u := rec.Arms[3].Unavailable; u == nil || u.Reason != "no driver" {
		t.Errorf("the lacking arm's reason: %+v", u)
	}
	// Two cases × three rounds × (three arms with latency + two with span).
	if len(run.Lines) != 2*3*5 {
		t.Errorf("%d lines, want 30", len(run.Lines))
	}
	for _, e := range rec.Entries {
		stages := []string{gate.Before, gate.Challenge, gate.LeftBehind, gate.Challenge}
		if len(e.Gates) != len(stages) {
			t.Fatalf("%s %s: %d gates", e.Case, e.Arm, len(e.Gates))
		}
		for i, g := range e.Gates {
			if g.Stage != stages[i] || !g.Passed {
				t.Errorf("%s %s: gate %d is %+v", e.Case, e.Arm, i, g)
			}
		}
		if e.Gates[1].Seed == e.Gates[0].Seed {
			t.Error("the challenge used the seed that was timed")
		}
		if lacks := len(e.Unavailable); (e.Arm == "fake/b@go") != (lacks == 1) {
			t.Errorf("%s: %d unavailable modes", e.Arm, lacks)
		}
	}
	if a.opened != 4 || a.closed != 4 || b.opened != b.closed {
		t.Errorf("opened %d, closed %d", a.opened, a.closed)
	}
}

func TestOrderRotatesAndTurns(t *testing.T) {
	first := map[int]int{}
	follows := map[string]bool{}
	for round := 1; round <= 6; round++ {
		o := order(3, round)
		first[o[0]]++
		for i := 1; i < 3; i++ {
			follows[fmt.Sprint(o[i-1], o[i])] = true
		}
		sorted := slices.Clone(o)
		slices.Sort(sorted)
		if !slices.Equal(sorted, []int{0, 1, 2}) {
			t.Errorf("round %d: %v is not every arm once", round, o)
		}
	}
	if first[0] != 2 || first[1] != 2 || first[2] != 2 {
		t.Errorf("first places %v, want two each", first)
	}
	if len(follows) != 6 {
		t.Errorf("only %d of 6 neighbourhoods occurred", len(follows))
	}
}

func TestAFailingArmEndsAlone(t *testing.T) {
	for _, c := range []struct {
		name, want string
		break_     func(*fake)
		lines      int // of the failing arm in the first case
	}{
		{"open", "opening: the device broke", func(f *fake) { f.openErr = errBroken }, 0},
		{"measure", "measuring latency hot: the device broke", func(f *fake) {
			f.measured = func(*fakeOperation, timing.Request) error { return errBroken }
		}, 0},
		{"wrong after timing", "gate (left behind by latency hot)", func(f *fake) {
			f.measured = func(o *fakeOperation, _ timing.Request) error { o.out[gate.GuardBytes+1] ^= 0x40; return nil }
		}, 1},
		{"writes past the end", "guard", func(f *fake) {
			f.measured = func(o *fakeOperation, _ timing.Request) error { o.out[len(o.out)-gate.GuardBytes] = 1; return nil }
		}, 1},
		{"unwritten in the timed region", "gate (left behind by latency hot)", func(f *fake) {
			f.measured = func(o *fakeOperation, _ timing.Request) error { return gate.Prepare(o) }
		}, 1},
	} {
		good, bad := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
		c.break_(bad)
		out, err := Run(context.Background(), parse(t, fakeSpec), lab(good, bad), Options{Results: t.TempDir()})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if out.Failures != 2 {
			t.Errorf("%s: %d failures, want one per case", c.name, out.Failures)
		}
		run := load(t, out.Dir)
		bads, goods := 0, 0
		for _, l := range run.Lines {
			if l.Case != run.Record.Cases[0].ID {
				continue
			}
			if l.Arm == "fake/b@go" {
				bads++
			} else {
				goods++
			}
		}
		if goods != 3*2*2 || bads != c.lines {
			t.Errorf("%s: %d lines of the sound arms, %d of the other; want 12 and %d", c.name, goods, bads, c.lines)
		}
		for _, e := range run.Record.Entries {
			if e.Arm == "fake/b@go" != strings.Contains(e.Error, c.want) {
				t.Errorf("%s: entry of %s: %q", c.name, e.Arm, e.Error)
			}
		}
	}
}

func TestDisturbedRoundIsKeptAndMeasuredAgain(t *testing.T) {
	pct := func(v float64) gpu.State { return gpu.State{StealPct: &v} }
	// State is read at calibration, then before and after each cell: the third
	// reading is after the first cell.
	a := &fake{name: "fake/a", us: 10, states: []gpu.State{pct(0), pct(0), pct(40), pct(0)}}
	text := strings.Replace(fakeSpec, `["fake/a", "fake/b", "cuda/first"]`, `["fake/a"]`, 1)
	out, err := Run(context.Background(), parse(t, text), lab(a), Options{Results: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	run := load(t, out.Dir)
	attempts := map[int]int{}
	for _, l := range run.Lines {
		if l.Case == run.Record.Cases[0].ID && l.Round == 1 {
			attempts[l.Attempt]++
			if disturbed := len(l.Disturbed) > 0; disturbed != (l.Attempt == 1 && l.Mode == "latency" && l.Order == 0) {
				t.Errorf("attempt %d, mode %s: disturbed %v", l.Attempt, l.Mode, l.Disturbed)
			}
		}
	}
	// Of the two cells with two arms each, one was disturbed.
	if attempts[1] != 4 || attempts[2] != 2 {
		t.Errorf("lines per attempt of round 1: %v, want 4 and 2", attempts)
	}
	if !slices.ContainsFunc(run.Events, func(e evidence.Event) bool { return e.What == "round-disturbed" }) {
		t.Error("no event says why")
	}
}

func TestRequestsCarryTheLimitOfASample(t *testing.T) {
	text := strings.Replace(fakeSpec, "rounds = 3", "rounds = 3\nmax_sample = \"1ms\"", 1)
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	seen := 0
	a.measured = func(_ *fakeOperation, r timing.Request) error {
		if seen++; r.LimitUS != 1000 || r.OnceUS <= 0 {
			t.Errorf("limit %v µs, estimate %v µs", r.LimitUS, r.OnceUS)
		}
		return nil
	}
	if _, err := Run(context.Background(), parse(t, text), lab(a, b), Options{Results: t.TempDir()}); err != nil || seen == 0 {
		t.Fatal(seen, err)
	}
}

func TestAProgramThatFindsNoDeviceIsUnavailable(t *testing.T) {
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5, runErr: unavailable.New("a device", "there is none", "")}
	out, err := Run(context.Background(), parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	if err != nil || out.Failures != 0 {
		t.Fatal(out, err)
	}
	for _, e := range load(t, out.Dir).Record.Entries {
		if e.Arm == "fake/b@go" != (len(e.Unavailable) == 1 && e.Unavailable[0].Reason == "there is none") {
			t.Errorf("%s: %+v", e.Arm, e.Unavailable)
		}
	}
	if b.opened != b.closed {
		t.Errorf("opened %d, closed %d", b.opened, b.closed)
	}
}

func TestARunWithoutASingleArmIsRefused(t *testing.T) {
	text := strings.Replace(fakeSpec, `["fake/a", "fake/b", "cuda/first"]`, `["cuda/first"]`, 1)
	results := t.TempDir()
	_, err := Run(context.Background(), parse(t, text), lab(), Options{Results: results})
	u, ok := unavailable.As(err)
	if !ok || !strings.Contains(u.Error(), "no driver") || u.Remedy == "" {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(results); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestACellWaitsForADeviceAtItsPowerLimit(t *testing.T) {
	limit := 700.0
	state := func(watts float64, throttle ...string) gpu.State {
		return gpu.State{PowerW: &watts, Throttle: throttle}
	}
	for _, c := range []struct {
		states []gpu.State
		rests  int
		last   float64
	}{
		{[]gpu.State{state(100)}, 0, 100},
		{[]gpu.State{{}}, 0, 0},
		{[]gpu.State{state(690), state(600), state(500)}, 2, 500},
		{[]gpu.State{state(300, "sw-power-cap"), state(290)}, 1, 290},
		{[]gpu.State{state(650, "sw-power-cap")}, int(restLimit / restStep), 650}, // for ever
	} {
		a := &fake{name: "fake/a", us: 10}
		l := lab(a)
		l.Devices[0].PowerLimitW = &limit
		r, err := newRunner(parse(t, strings.Replace(fakeSpec, `["fake/a", "fake/b", "cuda/first"]`, `["fake/a"]`, 1)), l, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rests := 0
		r.sleep = func(time.Duration) { rests++ }
		a.states = c.states
		s := r.rested(r.arms[0])
		if rests != c.rests || (s.PowerW != nil) != (c.last > 0) || s.PowerW != nil && *s.PowerW != c.last {
			t.Errorf("%v: %d rests, ended with %v", c.states, rests, s.PowerW)
		}
		if r.rested(r.arms[0]); rests != c.rests {
			t.Errorf("%v: a device that does not recover is waited for again", c.states)
		}
	}
}
