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

	"mage/gate"
)

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
		for !strings.Contains(w.printed(), "busy") {
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
