package exec

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mage/gate"
)

// gone waits until the processes whose numbers are in the file have ended. One
// that nobody reaps is a zombie, which runs nothing.
func gone(t *testing.T, pids string) {
	t.Helper()
	text := waitFor(t, pids)
	for deadline := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
		running := 0
		for _, pid := range strings.Fields(text) {
			stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
			if err != nil {
				continue
			}
			if _, after, _ := strings.Cut(string(stat), ") "); !strings.HasPrefix(after, "Z") {
				running++
			}
		}
		if running == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of the processes %s are still running", running, text)
		}
	}
}

func waitFor(t *testing.T, path string) string {
	t.Helper()
	for deadline := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil {
			return string(text)
		}
		if time.Now().After(deadline) {
			t.Fatal("the fake did not start its child")
		}
	}
}

func TestHangEndsAtTheDeadlineWithAllItStarted(t *testing.T) {
	b := openFake(t, "hang", Options{Deadline: 3 * time.Second})
	start := time.Now()
	if _, err := b.check(gate.Before); err == nil || !strings.Contains(err.Error(), "it ran longer than 3s and was killed") {
		t.Errorf("error = %v", err)
	}
	if took := time.Since(start); took > soon {
		t.Errorf("it took %v", took)
	}
	gone(t, b.pids)
}

// TestChildLeftRunningIsEnded: the program itself does everything right.
func TestChildLeftRunningIsEnded(t *testing.T) {
	b := openFake(t, "leaves a child", Options{})
	start := time.Now()
	if _, err := b.check(gate.Before); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > soon {
		t.Errorf("it took %v: the child held the output open", took)
	}
	gone(t, b.pids)
}

func TestCancelledContextEndsTheProgram(t *testing.T) {
	b := openFake(t, "hang", Options{})
	ctx, cancel := context.WithCancel(context.Background())
	b.op.owner.ctx = ctx
	go func() {
		for range 1000 {
			if _, err := os.Stat(b.pids); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if err := b.op.Run(); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	gone(t, b.pids)
}

// TestKilledParentTakesTheProgramWithIt kills a process like this one in the
// middle of a run: the program ends, and so does what it had started.
func TestKilledParentTakesTheProgramWithIt(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	parent := osexec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "MAGE_EXEC_FAKE=parent", "MAGE_EXEC_PIDS="+pids)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, pids)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	gone(t, pids)
}
