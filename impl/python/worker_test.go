package python

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/timing"
)

func TestPlainPythonPassesTheGate(t *testing.T) {
	w := plain(t, Options{})
	for _, c := range contract.All() {
		x := smallCase(t, c.Name())
		op := x.open(t, w.implementation("pure/python", nil))
		x.pass(t, op, gate.Before, gate.Challenge)
		if err := gate.PrepareDecoy(op); err != nil {
			t.Fatal(err)
		}
		r, err := op.Measure(timing.Request{Mode: timing.Mode{Kind: timing.Latency, N: 1}, Cache: timing.Hot, Warmup: 1, Samples: 3, MinSamples: 3})
		if err != nil || len(r.Samples) != 3 || r.Instrument != timing.HostClock {
			t.Errorf("%s: %+v, %v", c.Name(), r, err)
		}
		s := x.spec(gate.LeftBehind)
		s.Decoy = true
		if res, err := gate.Check(op, s); err != nil || !res.Passed {
			t.Errorf("%s: left behind: %s, %v", c.Name(), res.Failure, err)
		}
		id := op.Identity()
		if len(id.SourceSHA256) != 64 || !strings.HasPrefix(id.Compiler, "CPython 3") {
			t.Errorf("identity %+v", id)
		}
	}
}

func TestWrongAnswersAreRejected(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	for how, says := range map[string]string{
		"wrong": "out of tolerance", "idle": "still poisoned: 771 of 771", "guard": "guard zone after the output overwritten: 1 of",
	} {
		op := x.open(t, w.implementation("cheat/"+how, nil))
		if r := x.check(t, op, gate.Before); r.Passed || !strings.Contains(r.Failure, says) {
			t.Errorf("%s: passed %v, %q", how, r.Passed, r.Failure)
		}
	}
}

// Whatever becomes of one arm, it says why, and the others go on: with their
// inputs, in a fresh process where the old one is gone.
func TestOneArmEndsAlone(t *testing.T) {
	for _, c := range []struct {
		how   string
		says  string
		ended bool
	}{
		{"crash:run", "the process ended (signal: segmentation fault", true},
		{"crash:measure", "measuring latency of cheat/crash:measure matmul: the process ended (signal: segmentation fault", true},
		{"crash:open", "opening cheat/crash:open matmul: the process ended", true},
		{"exit:run", "the process ended (exit status 7)", true},
		{"leave:run", "SystemExit: 0", false},
		{"hang:run", "no answer within 500ms: killed", true},
		{"hang:measure", "no answer within 500ms: killed", true},
		{"raise:run", "ValueError: first line", false},
		{"memory:run", "MemoryError: nothing left", false},
		{"answer:run", `an answer that is none: "{\"seq\": 0`, true},
		{"close:run", "the process closed its answers (EOF): killed", true},
		{"fork:run", "the process ended (exit status 7)", true},
		{"mute:run", "ValueError: nobody hears", false},
		{"blind:run", "ValueError: nobody hears", false},
	} {
		t.Run(strings.ReplaceAll(c.how, ":", " "), func(t *testing.T) {
			t.Parallel()
			w := plain(t, Options{Deadline: 500 * time.Millisecond, OpenDeadline: 20 * time.Second})
			x := smallCase(t, "matmul")
			honest := x.open(t, w.implementation("pure/python", nil))
			x.pass(t, honest, gate.Before)

			latency := timing.Request{Mode: timing.Mode{Kind: timing.Latency, N: 1}, Cache: timing.Hot, Samples: 2, MinSamples: 2}
			bad, err := w.implementation("cheat/"+c.how, nil).Open(x.contract, x.dims, x.in)
			if err == nil {
				if err = bad.Run(); err == nil {
					_, err = bad.Measure(latency)
				}
			}
			var f *Failure
			if !errors.As(err, &f) || f.Ended != c.ended || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v (%+v), want %q", err, f, c.says)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			if c.ended && bad != nil {
				if again := bad.Run(); again == nil || again.Error() != err.Error() {
					t.Errorf("tried again: %v, want the first error", again)
				}
			}

			if err := gate.Prepare(honest); err != nil {
				t.Fatal(err)
			}
			if _, err := honest.Measure(latency); err != nil {
				t.Errorf("the other arm: %v", err)
			}
			x.pass(t, honest, gate.LeftBehind, gate.Challenge)
			want := 1
			if c.ended {
				want = 2
			}
			if w.generation != want {
				t.Errorf("%d processes were started, want %d", w.generation, want)
			}
		})
	}
}

func TestPrintedGarbageIsNoAnswer(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/garbage:run", nil))
	x.pass(t, op, gate.Before, gate.Challenge)
	eventually(t, "the garbage is in the log", func() bool { return strings.Contains(w.printed(), `"result": "garbage"`) })
	if w.generation != 1 {
		t.Errorf("%d processes", w.generation)
	}
}

// A forked child that comes back answers nothing: every request has one answer.
func TestAForkedChildDoesNotAnswer(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/stray:run", nil))
	x.pass(t, op, gate.Before, gate.Challenge)
	if w.generation != 1 {
		t.Errorf("%d processes", w.generation)
	}
}

// A worker that is killed from outside between two requests loses nobody's work.
func TestAWorkerKilledBetweenRequests(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "triangle")
	op := x.open(t, w.implementation("pure/python", nil))
	x.pass(t, op, gate.Before)
	if err := syscall.Kill(w.process.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-w.process.exited
	x.pass(t, op, gate.Before, gate.Challenge)
	if w.generation != 2 {
		t.Errorf("%d processes", w.generation)
	}
}

// A worker that ends between the poison and the reading of the output leaves
// nothing to judge: that is no wrong result.
func TestAWorkerKilledBeforeItsOutputIsRead(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("pure/python", nil))
	if err := gate.Prepare(op); err != nil {
		t.Fatal(err)
	}
	if err := op.Run(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(w.process.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-w.process.exited
	_, err := gate.Check(op, x.spec(gate.LeftBehind))
	var f *Failure
	if !errors.As(err, &f) || !strings.Contains(f.Reason, "has ended") {
		t.Errorf("error %v", err)
	}
	x.pass(t, op, gate.Before, gate.Challenge)
}

// A worker that is killed during a request ends that arm; the others go on.
func TestAWorkerKilledDuringARequest(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	other := x.open(t, w.implementation("pure/python", nil))
	op := x.open(t, w.implementation("cheat/pool:run", nil))
	group := w.process.pid
	go func() {
		time.Sleep(200 * time.Millisecond)
		_ = syscall.Kill(group, syscall.SIGKILL)
	}()
	if err := op.Run(); err == nil || !strings.Contains(err.Error(), "the process ended (signal: killed)") {
		t.Errorf("error %v", err)
	}
	eventually(t, "the group has ended", func() bool { return gone(group) })
	x.pass(t, other, gate.Before)
}
