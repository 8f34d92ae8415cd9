//go:build unix

package capture_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mage/capture"
	"mage/capture/ncu"
)

func TestOneCaptureOnADevice(t *testing.T) {
	b := newBench(t, "hang", "")
	ctx, cancel := context.WithCancel(context.Background())
	run := func(ctx context.Context, force bool, devices ...string) error {
		_, _, err := capture.Run(ctx, ncu.Backend{}, good, capture.Options{Root: b.root, Devices: devices, Force: force})
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = run(ctx, false, "GPU-1")
	}()
	for range 4000 {
		if _, err := os.Stat(os.Getenv("MAGE_STANDIN_PIDS")); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Setenv("MAGE_STANDIN", "")
	t.Setenv("MAGE_STANDIN_REPORT", rawCSV)
	for _, c := range []struct {
		devices []string
		free    bool
	}{{[]string{"GPU-1"}, false}, {[]string{"GPU-0", "GPU-1"}, false}, {nil, false}, {[]string{"GPU-0"}, true}, {[]string{"GPU-3", "GPU-2", "GPU-3"}, true}} {
		err := run(context.Background(), false, c.devices...)
		if _, busy := errors.AsType[*capture.BusyError](err); busy == c.free || c.free && err != nil {
			t.Errorf("devices %q: %v", c.devices, err)
		}
	}
	if err := run(context.Background(), true, "GPU-1"); err != nil {
		t.Errorf("forced: %v", err)
	}
	cancel()
	<-done
	if err := run(context.Background(), false, "GPU-1"); err != nil {
		t.Errorf("after the other: %v", err)
	}
}

// TestLocksAreForAllUsers: whatever the umask of who comes first, others can take
// the locks after them.
func TestLocksAreForAllUsers(t *testing.T) {
	b := newBench(t, "", rawCSV)
	defer syscall.Umask(syscall.Umask(0o077))
	if _, _, err := capture.Run(context.Background(), ncu.Backend{}, good, capture.Options{Root: b.root, Devices: []string{"GPU-1"}}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(os.TempDir(), "mage-captures")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 || info.Mode()&fs.ModeSticky == 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, name := range []string{"all.lock", "device-GPU-1.lock"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// TestLocksFollowNoLinks: in a directory for all, somebody may have laid one.
func TestLocksFollowNoLinks(t *testing.T) {
	b := newBench(t, "", rawCSV)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(os.TempDir(), "mage-captures")); err != nil {
		t.Fatal(err)
	}
	_, _, err := capture.Run(context.Background(), ncu.Backend{}, good, capture.Options{Root: b.root})
	if err == nil || !strings.Contains(err.Error(), "--force") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("%v was made behind the link", left)
	}
}
