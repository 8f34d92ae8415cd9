//go:build unix && !linux

package python

import "syscall"

// attributes put the worker into a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
