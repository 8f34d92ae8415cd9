package python

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put the worker into a process group of its own, and have the kernel
// end it with the thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// namelessFile is memory that can be mapped.
func namelessFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("mage-arrays", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "mage-arrays"), nil
}
