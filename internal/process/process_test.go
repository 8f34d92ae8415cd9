//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the Mage that gets killed.
func TestMain(m *testing.M) {
	if pids := os.Getenv("MAGE_TEST_PIDS"); pids != "" {
		_ = Run(context.Background(), Job{Argv: []string{"/bin/sh", "-c", hang, "sh", pids}})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hang starts a child that outlives it, writes both numbers to a file and waits.
const hang = `sleep 300 & echo $$ $! >"$1.new"; mv "$1.new" "$1"; wait`

const soon = 20 * time.Second

func await(t *testing.T, path string) []int {
	t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var pids []int
		for _, f := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return pids
	}
	t.Fatal("the program did not start")
	return nil
}

// gone waits until the processes have ended; one that nobody reaps runs nothing.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(5 * time.Millisecond) {
		running := false
		for _, pid := range pids {
			out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
			if state := strings.TrimSpace(string(out)); err == nil && !strings.HasPrefix(state, "Z") {
				running = true
			}
		}
		if !running {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("some of %v are still running", pids)
		}
	}
}

func TestOutputAndExit(t *testing.T) {
	var out, err bytes.Buffer
	e := Run(context.Background(), Job{
		Argv: []string{"/bin/sh", "-c", `printf '%s|' "$@" "$WORD"; pwd; echo bad >&2; exit 7`, "sh", "a b", "$HOME;"},
		Env:  []string{"WORD=w"}, Dir: "/", Stdout: &out, Stderr: &err})
	if code, signal, ok := Ended(e); code != 7 || signal != 0 || !ok {
		t.Errorf("Ended(%v) = %d, %v, %v", e, code, signal, ok)
	}
	if out.String() != "a b|$HOME;|w|/\n" || err.String() != "bad\n" {
		t.Errorf("stdout %q, stderr %q", out.String(), err.String())
	}
}

func TestOneWriterForBoth(t *testing.T) {
	var out bytes.Buffer // a race between two copies would show here
	e := Run(context.Background(), Job{Argv: []string{"/bin/sh", "-c", "echo a; echo b >&2; echo c"}, Stdout: &out, Stderr: &out})
	if e != nil || out.String() != "a\nb\nc\n" {
		t.Errorf("%q, %v", out.String(), e)
	}
}

func TestSignalIsNotACode(t *testing.T) {
	e := Run(context.Background(), Job{Argv: []string{"/bin/sh", "-c", "kill -SEGV $$"}})
	if _, signal, ok := Ended(e); signal != syscall.SIGSEGV || !ok {
		t.Errorf("Ended(%v) = %v, %v", e, signal, ok)
	}
}

func TestMissingProgram(t *testing.T) {
	for _, name := range []string{"no-such-program-here", "/nonexistent/program"} {
		e := Run(context.Background(), Job{Argv: []string{name}})
		if _, _, ok := Ended(e); e == nil || ok {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestLeftBehindIsEnded(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	var out bytes.Buffer
	start := time.Now()
	if err := Run(context.Background(), Job{Argv: []string{"/bin/sh", "-c", `sleep 300 & echo $! >"$1"; echo said`, "sh", pids}, Stdout: &out}); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > soon || out.String() != "said\n" {
		t.Errorf("%v, %q: the child held the output open", took, out.String())
	}
	gone(t, await(t, pids))
}

func TestDoneContextEndsTheGroup(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error)
	go func() { done <- Run(ctx, Job{Argv: []string{"/bin/sh", "-c", hang, "sh", pids}}) }()
	started := await(t, pids)
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("error = %v", err)
	}
	gone(t, started)
}

// TestInterruptComesBeforeTheKill: a profiler finishes its report then.
func TestInterruptComesBeforeTheKill(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- Run(ctx, Job{Grace: soon, Argv: []string{"/bin/sh", "-c",
			`trap 'echo report >"$1/report"; exit 0' INT; echo >"$1/ready"; while :; do sleep 0.05; done`, "sh", dir}})
	}()
	await(t, filepath.Join(dir, "ready"))
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "report")); string(text) != "report\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestStubbornProgramIsKilled(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- Run(ctx, Job{Grace: 50 * time.Millisecond, Argv: []string{"/bin/sh", "-c",
			`trap '' INT; echo >"$1"; while :; do sleep 0.05; done`, "sh", ready}})
	}()
	await(t, ready)
	cancel()
	select {
	case <-done:
	case <-time.After(soon):
		t.Fatal("still running")
	}
}

// TestKilledParent kills a process like this one in the middle of a run: what it
// ran ends with it, and so does what that had started.
func TestKilledParent(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "MAGE_TEST_PIDS="+pids)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	started := await(t, pids)
	if len(started) != 2 {
		t.Fatalf("started %v", started)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	gone(t, started)
}
