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

// namelessFile is memory that can be mapped. It cannot be made shorter, by nobody:
// looking at what is not there any more would end this process.
func namelessFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("mage-arrays", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "mage-arrays")
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		_ = f.Close()
		return nil, os.NewSyscallError("fcntl", err)
	}
	return f, nil
}
