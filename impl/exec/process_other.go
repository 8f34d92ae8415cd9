//go:build !linux

package exec

import (
	osexec "os/exec"
	"syscall"
)

// Without a parent-death signal a program that hangs outlives a killed Mage.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// await waits for the process, and ends what it left running.
func await(cmd *osexec.Cmd) error {
	err := cmd.Wait()
	_ = killGroup(cmd.Process.Pid)
	return err
}
