package python

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
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
	eventually(t, "the garbage is in the log", func() bool { return strings.Contains(w.Log(), `"result": "garbage"`) })
	if w.generation != 1 {
		t.Errorf("%d processes", w.generation)
	}
}

// gone says that no process of a group is left but those that have ended and
// wait to be reaped, which on some machines takes init seconds.
func gone(pgid int) bool {
	if errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) {
		return true
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	if len(stats) == 0 {
		return false // no procfs: wait for init
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state parent group …
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) > 2 && f[2] == strconv.Itoa(pgid) && f[0] != "Z" && f[0] != "X" {
			return false
		}
	}
	return true
}

func TestAHangTakesItsChildrenWithIt(t *testing.T) {
	w := plain(t, Options{Deadline: 500 * time.Millisecond, OpenDeadline: 20 * time.Second})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/pool:run", nil))
	group := w.process.pid
	if err := op.Run(); err == nil || !strings.Contains(err.Error(), "it last printed: child ") {
		t.Errorf("error %v", err)
	}
	eventually(t, "the group has ended", func() bool { return gone(group) })
}

func TestCloseEndsTheGroupAndRemovesTheDirectory(t *testing.T) {
	w := plain(t, Options{})
	if _, err := w.Versions(); err != nil {
		t.Fatal(err)
	}
	group := w.process.pid
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group has ended", func() bool { return gone(group) })
	if _, err := os.Stat(w.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if _, err := w.Versions(); err != nil {
		t.Errorf("versions are known: %v", err)
	}
	if err := w.Offers("pure/python"); err == nil {
		t.Error("a closed worker answers")
	}
}

// The test binary, started again, is a program that uses a worker until it is
// killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MAGE_PYTHON_TEST_PARENT"); dir != "" {
		parent(dir)
	}
	os.Exit(m.Run())
}

func parent(dir string) {
	w, err := Start(Options{Interpreter: "python3", Dir: dir, Device: "cpu", extra: fstest.MapFS{
		"mage_worker/arms.py": {Data: []byte("import subprocess, sys, time\ndef offers(*_):\n  subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n  print('busy', flush=True)\n  time.sleep(3600)\n")}}})
	if err == nil {
		err = w.call(request{Do: "hello"}, time.Minute, "starting", nil)
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	go func() {
		for !strings.Contains(w.Log(), "busy") {
			time.Sleep(5 * time.Millisecond)
		}
		fmt.Println(w.process.pid)
	}()
	_ = w.Offers("anything") // hangs
	os.Exit(1)
}

func TestNothingOutlivesAKilledParent(t *testing.T) {
	plainPython(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MAGE_PYTHON_TEST_PARENT="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var group int
	if _, scan := fmt.Sscan(line, &group); err != nil || scan != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the parent said %q (%v)", line, err)
	}
	if gone(group) {
		t.Fatal("the worker's group never was")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "worker, watcher and grandchild have ended", func() bool { return gone(group) })
	eventually(t, "the directory is removed", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		return err == nil && len(left) == 0
	})
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

// What a library leaves in the process does not keep it from serving and ending.
func TestThreadsAndHandlersAreBorne(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	for _, how := range []string{"thread", "handler"} {
		op := x.open(t, w.implementation("cheat/"+how+":run", nil))
		x.pass(t, op, gate.Before, gate.Challenge)
	}
	group := w.process.pid
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group has ended", func() bool { return gone(group) })
}

// A process that leaves the group holds the answers open, but not for long.
func TestALeftBehindProcessIsNotWaitedFor(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/daemon:run", nil))
	err := op.Run()
	var f *Failure
	if !errors.As(err, &f) || !f.Ended || !strings.Contains(err.Error(), "the process ended (exit status 7)") {
		t.Errorf("error %v", err)
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
