package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	osexec "os/exec"
	"time"

	"mage/internal/process"
	"mage/internal/tail"
)

// job is one process to run to its end.
type job struct {
	path     string
	args     []string
	dir      string
	env      []string
	deadline time.Duration
}

// run starts a process in a group of its own and returns when the whole group has
// ended, with the end of what it printed. The group is killed at the deadline, when
// ctx is done, and when this process dies.
func run(ctx context.Context, j job) (log string, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.deadline)
	defer cancel()
	out := &tail.Log{}
	err = process.Run(ctx, process.Job{Argv: append([]string{j.path}, j.args...), Dir: j.dir, Env: j.env, Stdout: out, Stderr: out})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("it ran longer than %v and was killed", j.deadline)
	case err != nil && ctx.Err() == nil:
		err = describe(err)
	}
	return out.String(), err
}

// exitUnavailable is the exit code of a program that this machine lacks something
// for, such as a GPU.
const exitUnavailable = 3

// exitCode returns the code that a process ended with by itself.
func exitCode(err error) (int, bool) {
	var exit *osexec.ExitError
	if !errors.As(err, &exit) || !exit.Exited() {
		return 0, false
	}
	return exit.ExitCode(), true
}

// describe says how a process failed, without the paths of the machine.
func describe(err error) error {
	var exit *osexec.ExitError
	if errors.As(err, &exit) {
		return exit // "exit status 1", "signal: killed"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("it does not start: %w", path.Err)
	}
	return err
}
