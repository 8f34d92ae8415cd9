//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package evidence

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock opens a directory and takes an exclusive advisory lock on it. The lock
// belongs to the open file: it ends with Close, or with the process however it
// dies, and it follows the directory through a rename.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &LockedError{Dir: dir}
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}
