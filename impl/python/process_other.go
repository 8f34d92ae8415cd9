//go:build unix && !linux

package python

import (
	"os"
	"syscall"
)

// attributes put the worker into a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// namelessFile is a file that can be mapped, removed while it is open.
func namelessFile() (*os.File, error) {
	f, err := os.CreateTemp("", "mage-arrays-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
