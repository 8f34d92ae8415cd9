package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// BusyError says that another capture has the device.
type BusyError struct{ Device string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("another capture is running on %s: two would disturb each other (--force captures all the same)", e.Device)
}

// locks are the devices that this capture holds.
type locks []*os.File

func (l locks) release() {
	for _, f := range l {
		_ = f.Close()
	}
}

// lockDevices locks what CUDA_VISIBLE_DEVICES names: those devices, or all of
// them when it is empty. One lock stands for all devices; who wants some of them
// shares it, so that both kinds exclude each other. The same device by its number
// and by its UUID is not recognised.
func lockDevices(visible string) (locks, error) {
	dir, err := lockDirectory()
	if err != nil {
		return nil, err
	}
	if visible == "" {
		f, err := lockFile(dir, "all", unix.LOCK_EX)
		if err != nil {
			return nil, err
		}
		return locks{f}, nil
	}
	f, err := lockFile(dir, "all", unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	held := locks{f}
	seen := map[string]bool{}
	for device := range strings.SplitSeq(visible, ",") {
		name := strings.Map(plain, strings.TrimSpace(device))
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		f, err := lockFile(dir, "device-"+name, unix.LOCK_EX)
		if err != nil {
			held.release()
			return nil, err
		}
		held = append(held, f)
	}
	return held, nil
}

// plain keeps what a file name may hold.
func plain(r rune) rune {
	if r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
		return r
	}
	return '_'
}

func lockDirectory() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			dir = filepath.Join(os.TempDir(), fmt.Sprintf("mage-%d", os.Getuid()))
		}
	}
	dir = filepath.Join(dir, "mage", "captures")
	return dir, os.MkdirAll(dir, 0o700)
}

// lockFile takes an advisory lock that ends with the process, however it dies.
func lockFile(dir, name string, how int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, name+".lock"), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the device: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		what := "this machine's GPUs"
		if device, ok := strings.CutPrefix(name, "device-"); ok {
			what = "GPU " + device
		}
		return nil, &BusyError{what}
	}
	return nil, fmt.Errorf("lock the device: %w", err)
}
