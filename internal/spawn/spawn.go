// Package spawn starts programs so that a profiler around this process follows them.
//
// Nsight Compute and compute-sanitizer are loaded into a process before all other
// libraries, and learn of its children from the functions of the C library that
// they replace. os/exec asks the kernel itself, so that they would miss the child,
// and a check of it would find nothing wrong because nobody looked.
//
// It must not know what the program is for.
package spawn

import "os/exec"

// Start is cmd.Start; cmd.Wait waits for the end. Where somebody stands between this
// process and the C library, the child is started through it: then it gets no
// signal at the death of this process, so that something else must end it.
//
// The standard files of cmd must be nil or an *os.File.
func Start(cmd *exec.Cmd) error {
	if libc, ok := interposed(); ok {
		return libc.start(cmd)
	}
	return cmd.Start()
}
