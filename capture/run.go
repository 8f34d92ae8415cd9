package capture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mage/internal/process"
)

// Options say where a capture is kept and who watches.
type Options struct {
	// Root is the directory in which the capture's own is made.
	Root string
	// Devices are the UUIDs of the GPUs that the program can see, by ordinal, or of
	// the only one that it will use; no other capture may use them meanwhile. None
	// stands for all of them.
	Devices []string
	// Force captures although another capture is running on the device.
	Force bool
	// Stdin is what the program reads, nothing if nil.
	Stdin *os.File
	// Watch, if not nil, is called every fifth of a second, from one goroutine at a
	// time. Follow tells it of the launches so far, if the backend is a Follower.
	Watch  func(Status)
	Follow bool
	// Versions of this Mage, for capture.json.
	Versions map[string]string
}

// Status is what a capture is doing.
type Status struct {
	Dir      string
	Phase    string // "capturing", "exporting", "reading"
	Elapsed  time.Duration
	LastLine string // of what was printed
	Seen     Seen   // launches so far
}

// grace is the time that a profiler has to finish its report after an interrupt.
const grace = 5 * time.Second

// Run captures the request with the backend. Once its directory exists, what
// became of it is in capture.json, also with an error: a *Failure whose outcome
// says how it ended, or the context's error after an interrupt. Before that the
// error is an *unavailable.Error, a *UsageError or a *BusyError.
func Run(ctx context.Context, b Backend, r Request, opt Options) (*Capture, *Result, error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	if !opt.Force {
		held, err := lockDevices(opt.Devices)
		if err != nil {
			return nil, nil, err
		}
		defer held.release()
	}
	c, err := create(opt.Root)
	if err != nil {
		return nil, nil, err
	}
	plan, err := b.Prepare(ctx, c.Dir, r)
	if err != nil {
		_ = os.RemoveAll(c.Dir)
		return nil, nil, err
	}
	c.describe(b, r, plan, opt.Versions)
	if err := c.save(); err != nil {
		return c, nil, err
	}
	a := &attempt{c: c, b: b, r: r, plan: plan, stdin: opt.Stdin, watch: opt.Watch}
	if f, ok := b.(Follower); ok && opt.Follow && opt.Watch != nil {
		a.follow = f.Follow(c.Dir)
	}
	err = a.run(ctx)
	return c, &a.result, c.finish(&a.result, opt.Devices, err)
}

// check refuses what no backend can serve.
func (r *Request) check() error {
	if len(r.Argv) == 0 {
		return &UsageError{"there is no program to profile"}
	}
	if r.LaunchCount < 0 {
		return &UsageError{fmt.Sprintf("a launch count of %d: want 1 or more, or 0 for all", r.LaunchCount)}
	}
	if r.Timeout < 0 {
		return &UsageError{fmt.Sprintf("a timeout of %v: want one above 0, or 0 for none", r.Timeout)}
	}
	path, err := exec.LookPath(r.Argv[0])
	if err != nil {
		return &UsageError{fmt.Sprintf("there is no program %q: %v", r.Argv[0], errors.Unwrap(err))}
	}
	if strings.HasPrefix(r.Argv[0], "-") { // a profiler would take it for a flag of its own
		r.Argv = append([]string{path}, r.Argv[1:]...)
	}
	return nil
}

// attempt is the work of one capture.
type attempt struct {
	c      *Capture
	b      Backend
	r      Request
	plan   Plan
	stdin  *os.File
	watch  func(Status)
	follow func(func(*Kernel)) // nil: the backend cannot, or nobody asks
	seen   tally
	log    *runLog
	result Result
}

// run captures, exports and reads. A result is also kept of a capture that failed,
// as far as it can be read.
func (a *attempt) run(ctx context.Context) error {
	var err error
	if a.log, err = newLog(filepath.Join(a.c.Dir, LogFile)); err != nil {
		return err
	}
	defer func() {
		if err := firstError(a.log.err, a.log.Close()); err != nil {
			a.c.Warnings = append(a.c.Warnings, fmt.Sprintf("%s is not whole: %v", LogFile, err))
		}
	}()
	failed := a.capture(ctx)
	if failure, ok := errors.AsType[*Failure](failed); failed != nil && (!ok || failure.Outcome != TargetFailed) {
		return failed // there is no report, or half of one
	}
	if a.plan.Export != nil {
		if err := a.step(ctx, "exporting", *a.plan.Export, nil); err != nil {
			return firstError(failed, exportFailure(ctx, err, a.log.last()))
		}
	}
	a.say("reading", time.Now())
	a.result, err = a.b.Parse(ctx, a.c.Dir, a.r)
	if a.r.LaunchCount > 0 && len(a.result.Kernels) > a.r.LaunchCount {
		a.result.Kernels = a.result.Kernels[:a.r.LaunchCount]
	}
	a.result.name()
	return firstError(failed, err, a.result.check(), a.verdict())
}

// capture runs the profiler around the target.
func (a *attempt) capture(ctx context.Context) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if a.r.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, a.r.Timeout)
	}
	defer cancel()
	err := a.step(limited, "capturing", a.plan.Run, a.stdin)
	code, signal, ended := process.Ended(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return &Failure{Outcome: TimedOut, Reason: fmt.Sprintf("the capture took longer than %v and was ended", a.r.Timeout), Remedy: "--timeout sets the limit"}
	case !ended:
		return &Failure{Outcome: ToolFailed, Reason: fmt.Sprintf("%s did not start: %v", filepath.Base(a.plan.Run.Argv[0]), err)}
	case signal != 0:
		a.c.Signal = signal.String()
		return &Failure{Outcome: Killed, Reason: fmt.Sprintf("%s was ended by a signal: %v", filepath.Base(a.plan.Run.Argv[0]), signal)}
	}
	a.c.ExitCode = &code
	if d, ok := a.b.(Diagnoser); ok {
		if failure, known := d.Diagnose(a.c.Dir, code); known {
			if failure != nil {
				return failure
			}
			return nil
		}
	}
	if code != 0 {
		return &Failure{Outcome: TargetFailed, Reason: fmt.Sprintf("%s ended with exit code %d", filepath.Base(a.r.Argv[0]), code)}
	}
	return nil
}

// step runs one command, showing what it does.
func (a *attempt) step(ctx context.Context, phase string, cmd Command, stdin *os.File) error {
	job := process.Job{Argv: cmd.Argv, Env: append(os.Environ(), cmd.Env...), Stdin: stdin, Stdout: a.log, Stderr: a.log, Grace: grace}
	a.log.begin()
	defer a.log.settle()
	if cmd.Stdout != "" {
		f, err := os.Create(filepath.Join(a.c.Dir, cmd.Stdout))
		if err != nil {
			return err
		}
		defer f.Close()
		job.Stdout = f
	}
	if a.watch != nil {
		stop, stopped := make(chan struct{}), make(chan struct{})
		defer func() { close(stop); <-stopped }()
		go func() {
			defer close(stopped)
			a.tick(stop, phase)
		}()
	}
	return process.Run(ctx, job)
}

func (a *attempt) tick(stop <-chan struct{}, phase string) {
	start := time.Now()
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for {
		a.say(phase, start)
		select {
		case <-stop:
			return
		case <-ticks.C:
		}
	}
}

func (a *attempt) say(phase string, start time.Time) {
	if a.watch != nil {
		if a.follow != nil {
			a.follow(a.seen.add)
		}
		a.watch(Status{Dir: a.c.Dir, Phase: phase, Elapsed: time.Since(start), LastLine: a.log.last(), Seen: a.seen.busiest()})
	}
}

// verdict is what a result that holds together says about the capture.
func (a *attempt) verdict() error {
	switch n := len(a.result.Findings); {
	case n == 1:
		return &Failure{Outcome: Findings, Reason: "1 finding: " + a.result.Findings[0].Kind}
	case n > 1:
		return &Failure{Outcome: Findings, Reason: fmt.Sprintf("%d findings", n)}
	case len(a.result.Kernels) > 0 || a.plan.MayBeEmpty:
		return nil
	case a.r.Range == CUDA:
		return &Failure{Outcome: Empty, Reason: "no kernel was launched between cudaProfilerStart and cudaProfilerStop",
			Remedy: "--capture-range all captures the whole program"}
	}
	return &Failure{Outcome: Empty, Reason: "no kernel was launched"}
}

func exportFailure(ctx context.Context, err error, last string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	reason := fmt.Sprintf("the report could not be exported: %v", err)
	if last != "" {
		reason += ": " + last
	}
	return &Failure{Outcome: ToolFailed, Reason: reason}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Capture) describe(b Backend, r Request, p Plan, versions map[string]string) {
	c.Backend, c.Target, c.Command, c.Env = b.Name(), r.Argv, p.Run.Argv, p.Run.Env
	if p.Export != nil {
		c.Export = p.Export.Argv
	}
	c.Script, c.Range, c.Launch, c.Set, c.Metrics, c.Tool = r.Script, r.Range, r.LaunchCount, r.Set, r.Metrics, r.Tool
	c.Reports = p.Reports
	c.Versions = maps.Clone(versions)
	c.addVersions(p.Versions)
}

func (c *Capture) addVersions(v map[string]string) {
	if c.Versions == nil {
		c.Versions = map[string]string{}
	}
	maps.Copy(c.Versions, v)
}
