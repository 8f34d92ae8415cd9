package process

import "syscall"

// attributes put a program into the group, and have the kernel end it with the
// thread that started it.
func attributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group, Pdeathsig: syscall.SIGKILL}
}
