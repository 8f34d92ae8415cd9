//go:build linux || darwin

package cpu

import "syscall"

// readPreemptions returns the involuntary context switches of this process.
func readPreemptions() *int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return nil
	}
	n := int64(u.Nivcsw)
	return &n
}
