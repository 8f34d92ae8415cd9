//go:build !linux

package process

import "syscall"

// attributes put a program into the group.
func attributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group}
}
