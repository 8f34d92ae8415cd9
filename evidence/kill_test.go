package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// childSamples of a line are enough for a kill to land in a write now and then.
const childSamples = 2000

// writeUntilKilled creates a run below dir, or resumes the one there, and
// appends rounds, events and updates without end. It says "dir PATH" once the
// run exists and "ack N" once round N is on disk.
func writeUntilKilled(dir string) error {
	runs, err := filepath.Glob(filepath.Join(dir, "kill", "[0-9]*"))
	if err != nil {
		return err
	}
	var w *Writer
	round := 1
	if len(runs) == 0 {
		if w, err = Create(dir, "kill", testRecord()); err != nil {
			return err
		}
	} else {
		var state *State
		if w, state, err = Resume(runs[0]); err != nil {
			return err
		}
		for attempts := 1; attempts > 0; round++ {
			attempts, _ = state.Complete(caseA, round)
		}
		round--
	}
	fmt.Println("dir", w.Dir())
	for ; ; round++ {
		if err := w.Event(Event{What: "round", Round: round, Detail: strings.Repeat("x", 3000)}); err != nil {
			return err
		}
		if err := w.AppendRound(testRound(caseA, round, 1, childSamples)); err != nil {
			return err
		}
		fmt.Println("ack", round)
		if err := w.Update(func(r *Record) { r.Plan.Rounds = round }); err != nil {
			return err
		}
	}
}

// TestKilledAtAnyMoment kills a writing process at random moments, many times
// over one run, and checks after each that the record loads, that it holds every
// round that was acknowledged, and that the run goes on from there.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 40
	if testing.Short() {
		kills = 10
	}
	root := t.TempDir()
	dir := ""
	acked, torn, partial := 0, 0, 0
	for kill := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+root)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Every third kill falls anywhere from the first instructions of the process
		// on, the others while it writes.
		delay := time.Duration(rand.ExpFloat64() * float64(12*time.Millisecond))
		timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if kill%3 == 0 {
			timer.Reset(delay)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			word, rest, _ := strings.Cut(lines.Text(), " ")
			switch word {
			case "dir":
				dir = rest
				if kill%3 != 0 {
					timer.Reset(delay)
				}
			case "ack":
				fmt.Sscan(rest, &acked)
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("kill %d: the child ended by itself: %v", kill, err)
		}
		timer.Stop()

		runs, _ := filepath.Glob(filepath.Join(root, "kill", "[0-9]*"))
		if len(runs) == 0 {
			if dir != "" {
				t.Fatal("the run is gone")
			}
			continue // killed before the run began to exist
		}
		run, err := Load(runs[0])
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		if run.Record.Status != Running {
			t.Errorf("status %q", run.Record.Status)
		}
		rounds := run.Rounds(Cell{caseA, "latency", "hot"})
		if len(rounds) < acked {
			t.Fatalf("kill %d: %d rounds acknowledged, %d loaded", kill, acked, len(rounds))
		}
		for i, r := range rounds {
			if r.Round != i+1 || len(r.Lines) != len(testArms) {
				t.Fatalf("kill %d: round %d at %d with %d arms", kill, r.Round, i, len(r.Lines))
			}
		}
		torn += max(0, warned(run, TornLine))
		partial += max(0, warned(run, PartialRound))
	}
	t.Logf("%d kills: %d rounds kept, %d torn lines, %d lines of partial rounds", kills, acked, torn, partial)
	if dir == "" {
		t.Skip("every child was killed before it had a run")
	}

	w, state, err := Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	next := len(state.Rounds(Cell{caseA, "batch:100", "hot"})) + 1
	want := testRound(caseA, next, 1, 10)
	if err := errors.Join(w.AppendRound(want), w.Finish(Complete, ""), w.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Lines { // every sample that was kept is the one that was written
		l := &run.Lines[i]
		samples := childSamples
		if l.Round == next {
			samples = 10
		}
		if i%6 == 0 && l.Round%7 == 0 || l.Round == next {
			expect := testRound(caseA, l.Round, 1, samples)[l.Part-1]
			if len(expect.Samples) != len(l.Samples) || expect.Samples[samples-1] != l.Samples[samples-1] || expect.Arm != l.Arm {
				t.Fatalf("line %d is not what was written", i+1)
			}
		}
	}
	if warned(run, TornLine) >= 0 || warned(run, PartialRound) >= 0 || warned(run, NotFinished) >= 0 {
		t.Errorf("after the resume: %v", run.Warnings)
	}
	if _, _, err := Resume(dir); !errors.As(err, new(*CompleteError)) {
		t.Errorf("resumed a complete run: %v", err)
	}
}
