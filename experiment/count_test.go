package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mage/contract"
	"mage/evidence"
	"mage/evidence/schema"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/verdict"
	"mage/impl"
	"mage/timing"
	"mage/unavailable"
)

// counter is a fake on a device that counts. Each operation shows a finding in its
// faultyRun-th execution, from 1.
type counter struct {
	fake
	faultyRun int
	runs      int
	stopped   context.Context // ends executions with an error, when it is done
}

func (c *counter) Device() string     { return "simt:0" }
func (c *counter) LaunchPath() string { return "driver" }

func (c *counter) Open(k contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	op, err := c.fake.Open(k, d, in)
	if err != nil {
		return nil, err
	}
	return &countedOperation{fakeOperation: op.(*fakeOperation), counter: c}, nil
}

type countedOperation struct {
	*fakeOperation
	counter  *counter
	findings []verdict.Finding
}

func (o *countedOperation) Run() error {
	o.counter.runs++
	if c := o.counter.stopped; c != nil && c.Err() != nil {
		return errors.New("the device was stopped")
	}
	if err := o.fakeOperation.Run(); err != nil {
		return err
	}
	if o.counter.runs == o.counter.faultyRun {
		o.findings = append(o.findings, verdict.Finding{Kind: "shared-race", Kernel: "k", File: "k.ptx", Line: 7, Instruction: "st.shared.u32", Detail: "write after write", Count: 2})
		return &simt.CheckError{Findings: o.findings}
	}
	return nil
}

func (o *countedOperation) Measure(timing.Request) (timing.Reading, error) {
	return timing.Reading{}, errors.New("an untimed arm was measured")
}

func (o *countedOperation) Counters() verdict.Counters {
	return verdict.Counters{Launches: 1, Lanes: int64(o.counter.runs)}
}

func (o *countedOperation) Findings() []verdict.Finding { return o.findings }

func (o *countedOperation) Printed() []byte {
	return []byte(fmt.Sprintf("run %d\x1b\n", o.counter.runs) + strings.Repeat("line\n", 40))
}

// countingLab is a laboratory whose device simt:0 measures no time.
func countingLab(maxFLOPs float64, all ...impl.Implementation) *Lab {
	l := lab(all...)
	l.Devices = append(l.Devices, evidence.Device{ID: "simt:0", Info: gpu.Info{Backend: "simt"}})
	l.Untimed = map[string]*Untimed{"simt:0": {Reason: unavailable.New("times on simt:0", "it counts", "use a GPU"), MaxFLOPs: maxFLOPs}}
	return l
}

func countedRun(t *testing.T, text string, l *Lab, p Progress) (*evidence.Run, Outcome) {
	t.Helper()
	out, err := Run(context.Background(), parse(t, text), l, Options{Results: t.TempDir(), Progress: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.ValidateRun(out.Dir); err != nil {
		t.Error(err)
	}
	r, err := evidence.Load(out.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

// endless asks for rounds until a comparison is decided that no round can decide.
const endless = `
namespace = "test"
implementations = ["fake/a", "fake/b"]
baseline = ["fake/a", "fake/b"]
modes = ["latency", "span"]
rounds = 3
[stop]
max_rounds = 1000
[[case]]
contract = "gelu"
shapes = ["small"]
`

func stages(e evidence.Entry) (out []string) {
	for _, g := range e.Gates {
		out = append(out, g.Stage)
	}
	return out
}

type roundCount struct {
	Silent
	rounds int
}

func (c *roundCount) Round(int, int, []string, time.Duration) { c.rounds++ }

// TestCountedOnce: arms of an untimed device are executed twice, gated both times,
// and take part in nothing that is about time.
func TestCountedOnce(t *testing.T) {
	a, b := &counter{fake: fake{name: "fake/a"}}, &counter{fake: fake{name: "fake/b"}}
	var p roundCount
	r, out := countedRun(t, endless, countingLab(0, a, b), &p)
	if out.Failures != 0 || p.rounds != 0 || len(r.Lines) != 0 || len(r.Record.Calibration) != 0 || len(r.Record.Arms) != 2 {
		t.Errorf("%d failures, %d rounds, %d lines, %d calibrations, %d arms", out.Failures, p.rounds, len(r.Lines), len(r.Record.Calibration), len(r.Record.Arms))
	}
	if a.runs != 2 || b.runs != 2 || a.closed != 1 {
		t.Errorf("%d and %d executions, closed %d times", a.runs, b.runs, a.closed)
	}
	for _, e := range r.Record.Entries {
		if !slices.Equal(stages(e), []string{gate.LeftBehind, gate.Challenge, stageChecks}) || slices.ContainsFunc(e.Gates, func(g gate.Result) bool { return !g.Passed }) {
			t.Errorf("%s: gates %+v", e.Arm, e.Gates)
		}
		if e.Counters == nil || e.Counters.Lanes != 1 { // of the first, which the challenge followed
			t.Errorf("%s: counters %+v", e.Arm, e.Counters)
		}
		if len(e.Unavailable) != 1 || e.Unavailable[0].What != "times on simt:0" {
			t.Errorf("%s: unavailable %+v", e.Arm, e.Unavailable)
		}
	}
}

// TestCountedBesideTimed: a timed arm is measured as it would be alone.
func TestCountedBesideTimed(t *testing.T) {
	a, b := &counter{fake: fake{name: "fake/a"}}, &fake{name: "fake/b", us: 10}
	text := strings.Replace(endless, "max_rounds = 1000", "max_rounds = 4", 1)
	r, _ := countedRun(t, text, countingLab(0, a, b), nil)
	rounds := map[int]bool{}
	orders := map[int]bool{}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Arm, "fake/a") {
			t.Fatal("the untimed arm has a line")
		}
		rounds[l.Round], orders[l.Order] = true, true
	}
	if len(rounds) != 4 || len(orders) != 2 { // fake/b and its control, in two places
		t.Errorf("rounds %v, places %v", rounds, orders)
	}
	if a.runs != 2 || len(r.Record.Arms) != 3 || len(r.Record.Calibration) != 1 {
		t.Errorf("%d executions, arms %+v", a.runs, r.Record.Arms)
	}
}

// TestFindingsFailTheGate: whatever execution shows a defect, the arm fails with
// it in one line, the record keeps all of it, and the other arm goes on.
func TestFindingsFailTheGate(t *testing.T) {
	for run, want := range map[int][]string{
		1: {stageChecks, gate.LeftBehind},
		2: {gate.LeftBehind, stageChecks}, // with the inputs of the challenge only
	} {
		a, b := &counter{fake: fake{name: "fake/a"}, faultyRun: run}, &counter{fake: fake{name: "fake/b"}}
		r, out := countedRun(t, endless, countingLab(0, a, b), nil)
		if out.Failures != 1 || a.runs != run || b.runs != 2 {
			t.Errorf("run %d: %d failures, %d and %d executions", run, out.Failures, a.runs, b.runs)
		}
		e := r.Record.Entries[0]
		if !strings.HasPrefix(e.Error, "checks: k: write after write at k.ptx:7 (st.shared.u32)") || strings.Contains(e.Error, "\n") {
			t.Errorf("run %d: error %q", run, e.Error)
		}
		if len(e.Findings) != 1 || e.Findings[0].Line != 7 || e.Counters == nil {
			t.Errorf("run %d: findings %+v", run, e.Findings)
		}
		if !slices.Equal(stages(e), want) {
			t.Errorf("run %d: stages %v, want %v", run, stages(e), want)
		}
		for _, g := range e.Gates {
			if g.Passed != (g.Stage != stageChecks) {
				t.Errorf("run %d: gate %+v", run, g)
			}
		}
	}
}

// TestTooLargeToCount: nothing of such a case is computed, references included.
func TestTooLargeToCount(t *testing.T) {
	a, b := &counter{fake: fake{name: "fake/a"}}, &counter{fake: fake{name: "fake/b"}}
	r, out := countedRun(t, endless, countingLab(5000, a, b), nil) // gelu 3×257 takes 7710
	if out.Failures != 0 || a.opened+b.opened != 0 {
		t.Errorf("%d failures, opened %d and %d times", out.Failures, a.opened, b.opened)
	}
	for _, e := range r.Record.Entries {
		if len(e.Unavailable) != 2 || !strings.Contains(e.Unavailable[1].Reason, "7.71e-06 GFLOP") || e.Counters != nil {
			t.Errorf("%+v", e.Unavailable)
		}
	}
	if len(r.Record.Cases) != 1 || len(r.Record.Cases[0].InputSHA256) == 0 {
		t.Errorf("cases %+v", r.Record.Cases)
	}
}
