package python

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mage/gate"
	"mage/input"
	"mage/timing"
)

var (
	kernelMode  = timing.Request{Mode: timing.Mode{Kind: timing.Kernel, N: 1}, Cache: timing.Hot, Warmup: 1, Samples: 3, MinSamples: 3}
	latencyMode = timing.Request{Mode: timing.Mode{Kind: timing.Latency, N: 1}, Cache: timing.Hot, Samples: 2, MinSamples: 2}
)

// Kernel mode runs in a process of its own, on the inputs as they are, and the
// gate judges what it left there.
func TestKernelModeRunsInAProcessOfItsOwn(t *testing.T) {
	w := plain(t, Options{traceOnCPU: true})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/honest", nil))
	x.pass(t, op, gate.Before)
	other := caseOf(t, x.contract, x.dims, "normal", input.DefaultSeed+1)
	for _, now := range []testCase{x, other, x} {
		if err := op.SetInputs(now.in); err != nil {
			t.Fatal(err)
		}
		if err := gate.PrepareDecoy(op); err != nil {
			t.Fatal(err)
		}
		r, err := op.Measure(kernelMode)
		if err != nil {
			t.Fatal(err)
		}
		first := int(float64(now.in["a"].Float32s()[0])*1e6) % 1000
		if first < 0 { // as Python counts
			first += 1000
		}
		if want := float64(first) + 2; !slices.Equal(r.Samples, []float64{want, want, want}) || r.Launches != 2 || r.Operations != 1 || r.Instrument != timing.CUPTI {
			t.Errorf("%+v, want samples of %v", r, want)
		}
		s := now.spec(gate.LeftBehind)
		s.Decoy = true
		if res, err := gate.Check(op, s); err != nil || !res.Passed {
			t.Errorf("left behind by kernel mode: %s, %v", res.Failure, err)
		}
		if err := gate.Prepare(op); err != nil {
			t.Fatal(err)
		}
		if _, err := op.Measure(latencyMode); err != nil {
			t.Fatal(err)
		}
		now.pass(t, op, gate.LeftBehind, gate.Challenge)
	}
	if got, want := w.tracer.printed(), fmt.Sprintf("traced by %d", w.tracer.process.pid); !strings.Contains(got, want) || strings.Contains(w.printed(), "traced by") {
		t.Errorf("the tracer printed %q, want %q; the worker printed %q", got, want, w.printed())
	}
	group := w.tracer.process.pid
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tracer has ended", func() bool { return gone(group) })
}

func TestTheGateJudgesWhatKernelModeLeft(t *testing.T) {
	w := plain(t, Options{traceOnCPU: true})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/honest:traced", nil))
	if err := gate.Prepare(op); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Measure(kernelMode); err != nil {
		t.Fatal(err)
	}
	if r := x.check(t, op, gate.LeftBehind); r.Passed || !strings.Contains(r.Failure, "1 of 771 elements") {
		t.Errorf("passed %v: %s", r.Passed, r.Failure)
	}
	x.pass(t, op, gate.Before) // the worker's own operation is right
}

// A tracer that crashes ends kernel mode of that arm; nobody else notices.
func TestATracerThatCrashes(t *testing.T) {
	w := plain(t, Options{traceOnCPU: true})
	x := smallCase(t, "gelu")
	bad := x.open(t, w.implementation("cheat/crash:kernel", nil))
	good := x.open(t, w.implementation("cheat/honest", nil))
	x.pass(t, bad, gate.Before)
	if _, err := bad.Measure(kernelMode); err == nil || !strings.Contains(err.Error(), "the process ended (signal: segmentation fault") {
		t.Errorf("error %v", err)
	}
	if err := gate.Prepare(good); err != nil {
		t.Fatal(err)
	}
	if _, err := good.Measure(kernelMode); err != nil {
		t.Error(err)
	}
	x.pass(t, good, gate.LeftBehind, gate.Before)
	if w.generation != 1 || w.tracer.generation != 2 {
		t.Errorf("%d workers and %d tracers were started, want 1 and 2", w.generation, w.tracer.generation)
	}
}
