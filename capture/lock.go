package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// lockDevices locks the devices with these identities; without any, all devices.
// Another lock stands for all: who wants some of them shares it, so that both
// kinds exclude each other.
func lockDevices(devices []string) (locks, error) {
	dir, err := lockDirectory()
	if err != nil {
		return nil, lockError(err)
	}
	how := unix.LOCK_SH
	if len(devices) == 0 {
		how = unix.LOCK_EX
	}
	var held locks
	lock := func(name, what string, how int) error {
		f, err := lockFile(filepath.Join(dir, name+".lock"), how)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return &BusyError{what}
		}
		if err != nil {
			return lockError(err)
		}
		held = append(held, f)
		return nil
	}
	err = lock("all", "this machine's GPUs", how)
	for _, d := range slices.Compact(slices.Sorted(slices.Values(devices))) {
		if err == nil {
			err = lock("device-"+strings.Map(plain, d), d, unix.LOCK_EX)
		}
	}
	if err != nil {
		held.release()
		return nil, err
	}
	return held, nil
}

func lockError(err error) error {
	return fmt.Errorf("lock the device: %w (--force captures without)", err)
}

// plain keeps what a file name may hold.
func plain(r rune) rune {
	if r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
		return r
	}
	return '_'
}

// lockDirectory is one for all users, as the devices are.
func lockDirectory() (string, error) {
	dir := filepath.Join(os.TempDir(), "mage-captures")
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		return dir, os.Chmod(dir, 0o777|os.ModeSticky) // whatever the umask is
	}
	if !errors.Is(err, fs.ErrExist) {
		return dir, err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() { // a link leads to somebody else's files
		return dir, fmt.Errorf("%s is no directory", dir)
	}
	return dir, nil
}

// lockFile takes an advisory lock that ends with the process, however it dies. A
// file that is there may be another user's, which O_CREAT may not open in a
// directory for all.
func lockFile(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			err = f.Chmod(0o644)
		} else if errors.Is(err, fs.ErrExist) {
			f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0) // somebody was faster
		}
	}
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
