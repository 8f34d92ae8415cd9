// Package process runs a program to its end, together with everything that it
// starts: when the program has ended, when it is told to stop, and when this
// process dies, however it dies, nothing of it is left running.
//
// It must not know what the program is for.
package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"mage/internal/spawn"
)

// Job is one program to run.
type Job struct {
	// Argv is the program and its arguments, as an array: no shell reads them.
	Argv []string
	Dir  string   // working directory; empty for that of this process
	Env  []string // the whole environment; nil for that of this process
	// Stdin is what the program reads; nil is nothing. It must not be a terminal:
	// only the group in its foreground may read that, which is this process's.
	Stdin *os.File
	// Stdout and Stderr may be the same writer, which is then used by one
	// goroutine. A nil one is discarded. An *os.File is passed on as it is.
	Stdout, Stderr io.Writer
	// Grace is the time between the interrupt and the kill when the context is
	// done; without one the program is killed at once.
	Grace time.Duration
}

// drain is how long output may still come after the whole group has been killed:
// only what left the group holds it open by then.
const drain = 2 * time.Second

// Run starts the program in a process group of its own and returns when it has
// ended and the rest of its group has been killed. The error is an
// *exec.ExitError when it ended with another code than 0 or by a signal, the
// context's cause when that was done first, or says why the program did not
// start.
//
// What the program moves into another group or session escapes.
func Run(ctx context.Context, j Job) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	k, err := newKeeper()
	if err != nil {
		return err
	}
	defer k.close()
	cmd := exec.Command(j.Argv[0], j.Argv[1:]...)
	if cmd.Err != nil {
		return cmd.Err
	}
	cmd.Dir, cmd.Env = j.Dir, j.Env
	if j.Stdin != nil {
		cmd.Stdin = j.Stdin
	}
	cmd.SysProcAttr = attributes(k.group)
	out, err := newOutputs(cmd, j.Stdout, j.Stderr)
	if err != nil {
		return err
	}

	done := make(chan error, 1)
	go func() {
		// The parent-death signal follows the thread that forked, not the process:
		// this one stays until the program has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := spawn.Start(cmd)
		out.started()
		if err == nil {
			err = cmd.Wait()
		}
		done <- err
	}()
	err = stopWhenDone(ctx, j.Grace, k, done)
	k.kill()
	out.wait()
	return err
}

// stopWhenDone waits for the program, and ends it with its group when ctx is done.
func stopWhenDone(ctx context.Context, grace time.Duration, k *keeper, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if grace > 0 {
		k.signal(syscall.SIGINT)
		select {
		case <-done:
			return context.Cause(ctx)
		case <-time.After(grace):
		}
	}
	k.signal(syscall.SIGKILL)
	<-done
	return context.Cause(ctx)
}

// Ended says how a program ended by itself: with a code, or by a signal.
func Ended(err error) (code int, signal syscall.Signal, ok bool) {
	if err == nil {
		return 0, 0, true
	}
	exit, isExit := errors.AsType[*exec.ExitError](err)
	if !isExit {
		return 0, 0, false
	}
	if status, isStatus := exit.Sys().(syscall.WaitStatus); isStatus && status.Signaled() {
		return 0, status.Signal(), true
	}
	return exit.ExitCode(), 0, true
}

// outputs copies what the program writes. The pipes are this package's, not
// exec's, because a process that the program left behind holds them open until
// the group has been killed.
type outputs struct {
	ends   []*os.File // the program's ends
	copies []chan struct{}
	reads  []*os.File
}

func newOutputs(cmd *exec.Cmd, stdout, stderr io.Writer) (*outputs, error) {
	o := &outputs{}
	var err error
	if cmd.Stdout, err = o.file(stdout); err != nil {
		return nil, err
	}
	if stderr == stdout {
		cmd.Stderr = cmd.Stdout
		return o, nil
	}
	if cmd.Stderr, err = o.file(stderr); err != nil {
		o.started()
		return nil, err
	}
	return o, nil
}

// file returns what the program writes to for w: an untyped nil discards.
func (o *outputs) file(w io.Writer) (io.Writer, error) {
	if w == nil {
		return nil, nil
	}
	if f, ok := w.(*os.File); ok {
		return f, nil
	}
	r, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	o.ends, o.reads, o.copies = append(o.ends, end), append(o.reads, r), append(o.copies, ended)
	go func() {
		defer close(ended)
		if _, err := io.Copy(w, r); err != nil {
			_, _ = io.Copy(io.Discard, r) // a writer that fails must not stop the program
		}
	}()
	return end, nil
}

// started closes this process's copies of the program's ends.
func (o *outputs) started() {
	for _, f := range o.ends {
		_ = f.Close()
	}
}

func (o *outputs) wait() {
	timer := time.NewTimer(drain)
	defer timer.Stop()
	for i, ended := range o.copies {
		select {
		case <-ended:
		case <-timer.C:
			timer.Reset(0)
		}
		_ = o.reads[i].Close() // ends a copy that somebody still feeds
		<-ended
	}
}
