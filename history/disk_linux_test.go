package history_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mage/history"
)

// TestFullDisk fills a small disk: one clear error, everything before it is there,
// and when there is room again the history goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	mount := func(flags uintptr, size int) error {
		return syscall.Mount("none", dir, "tmpfs", flags, fmt.Sprintf("size=%d", size))
	}
	if err := mount(0, 512<<10); err != nil {
		t.Skip("cannot mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "full.db")
	db := reopen(t, path, history.Options{})
	var err error
	kept := 0
	many := append(append(sampleMetrics(), sampleMetrics()...), sampleMetrics()...)
	for ; err == nil && kept < 10000; kept++ {
		_, err = db.Add(ctx, sampleSession(), many)
	}
	kept--
	if err == nil || !strings.Contains(err.Error(), "no space left for "+path) || strings.Contains(err.Error(), "\n") {
		t.Fatal(kept, err)
	}
	check := func(want int) {
		t.Helper()
		all, err := db.Sessions(ctx)
		if err != nil || len(all) != want {
			t.Fatalf("%d sessions, want %d, %v", len(all), want, err)
		}
		for _, s := range all {
			if s.Launches != len(many) {
				t.Errorf("session %d has %d metrics", s.ID, s.Launches)
			}
		}
	}
	check(kept)
	if err := mount(syscall.MS_REMOUNT, 4<<20); err != nil {
		t.Fatal(err)
	}
	add(t, db, sampleSession(), many)
	check(kept + 1)
	db.Close()
	db = reopen(t, path, history.Options{})
	check(kept + 1)
	db.Close()

	// A disk that is full from the start.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := mount(syscall.MS_REMOUNT, 64<<10); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 64<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	if db, err := history.Open(path, history.Options{}); err == nil {
		db.Close()
		t.Error("a history was made on a full disk")
	} else if !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// TestNotWritable runs as another user, whom file modes stop.
func TestNotWritable(t *testing.T) {
	if os.Getenv("HISTORY_TEST_DIR") != "" {
		notWritable(t, os.Getenv("HISTORY_TEST_DIR"))
		return
	}
	// A directory of its own: the test's temporary one is closed to others.
	dir, err := os.MkdirTemp("/tmp", "history")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	db := reopen(t, filepath.Join(dir, "file.db"), history.Options{})
	add(t, db, sampleSession(), sampleMetrics())
	db.Close()
	for path, mode := range map[string]os.FileMode{filepath.Join(dir, "file.db"): 0o444, dir: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "tests")
	if os.Getuid() != 0 {
		notWritable(t, dir)
		return
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestNotWritable$", "-test.v")
	cmd.Env = append(os.Environ(), "HISTORY_TEST_DIR="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestNotWritable") {
		t.Errorf("%v\n%s", err, out)
	}
}

func notWritable(t *testing.T, dir string) {
	path := filepath.Join(dir, "file.db")
	db, err := history.Open(path, history.Options{ReadOnly: true})
	if err != nil {
		t.Fatal("it cannot be read either: ", err)
	}
	if all, err := db.Sessions(ctx); err != nil || len(all) != 1 || all[0].Launches != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	db.Close()
	db, err = history.Open(path, history.Options{})
	if err == nil {
		_, err = db.Add(ctx, sampleSession(), nil)
		db.Close()
	}
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "cannot be") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	for _, below := range []string{"new.db", "below/new.db"} {
		db, err := history.Open(filepath.Join(dir, below), history.Options{})
		if err == nil {
			db.Close()
			t.Error("a history was made in a closed directory")
		} else if !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	}
}
