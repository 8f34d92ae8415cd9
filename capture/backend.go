package capture

import (
	"context"
	"time"
)

// Backend is one profiler.
type Backend interface {
	// Name is "nsys", "ncu", "sanitizer", "cupti", "triton".
	Name() string
	// Prepare says how to run the request with the report in dir, which exists
	// and is empty. It returns an *unavailable.Error where this machine lacks the
	// profiler, and a *UsageError for a request that it cannot serve.
	Prepare(ctx context.Context, dir string, r Request) (Plan, error)
	// Parse reads what the commands of the plan left in dir. A *Failure says that
	// the report is no evidence; the result that comes with it is kept.
	Parse(ctx context.Context, dir string, r Request) (Result, error)
}

// Diagnoser is a Backend that can tell from its exit code and log how a run ended.
type Diagnoser interface {
	// Diagnose is asked when the plan's first command has ended by itself; known is
	// false where there is nothing to add to "exit code N". A nil *Failure that is
	// known accepts the code.
	Diagnose(dir string, code int) (failure *Failure, known bool)
}

// Follower is a Backend that can tell of launches while the program runs.
type Follower interface {
	// Follow returns a function that reads on in dir: it calls seen for every launch
	// that came since its last call, with the duration where it is known. It is not
	// evidence: what cannot be read is left to Parse.
	Follow(dir string) func(seen func(*Kernel))
}

// Request is what to profile, and how.
type Request struct {
	// Argv is the target: the program, found as a shell would find it, and its
	// arguments. It never passes through a shell.
	Argv []string
	// Script is set when the target is a Python script: Argv is then
	// [interpreter, Script, arguments…].
	Script string
	Range  Range
	// LaunchCount is the largest number of kernel launches to profile; 0 is all.
	LaunchCount int
	// Set and Metrics choose hardware counters (ncu).
	Set     string
	Metrics []string
	// Tool is the check of compute-sanitizer: "memcheck", "racecheck",
	// "initcheck", "synccheck".
	Tool string
	// Timeout ends the whole capture; 0 is never.
	Timeout time.Duration
}

// Range is the part of the target's life that is captured.
type Range string

const (
	// All captures everything from start to end.
	All Range = "all"
	// CUDA captures between cudaProfilerStart and cudaProfilerStop.
	CUDA Range = "cuda"
)

// Plan is the command lines of one capture.
type Plan struct {
	// Run is the profiler around the target, or the target itself.
	Run Command
	// Export, if there is one, runs when Run has ended well, to turn its report
	// into what Parse reads.
	Export *Command
	// Reports are the files in the directory that the profiler itself writes.
	Reports []string
	// Versions of what takes part: "nsys", "ncu".
	Versions map[string]string
	// MayBeEmpty says that a target without kernels is an answer, not an error.
	MayBeEmpty bool
}

// Command is one process to run.
type Command struct {
	Argv []string
	// Env is added to this process's environment, as NAME=VALUE.
	Env []string
	// Stdout is the file in the directory that takes the standard output, empty
	// for the log of the capture.
	Stdout string
}

// UsageError is a request that a backend cannot serve on any machine.
type UsageError struct{ Problem string }

func (e *UsageError) Error() string { return e.Problem }

// Failure is a capture that is no evidence, or that ended badly.
type Failure struct {
	Outcome Outcome
	Reason  string
	Remedy  string
}

func (e *Failure) Error() string {
	if e.Remedy != "" {
		return e.Reason + " (" + e.Remedy + ")"
	}
	return e.Reason
}

// Outcome says how a capture ended.
type Outcome string

// Running is what a killed Mage leaves behind.
const (
	Running      Outcome = "running"
	Complete     Outcome = "complete"
	Findings     Outcome = "findings"      // complete, and compute-sanitizer found errors
	TargetFailed Outcome = "target-failed" // the program itself ended with an error
	Empty        Outcome = "empty"         // no kernel was seen
	Killed       Outcome = "killed"        // the profiler or the program died by a signal
	Interrupted  Outcome = "interrupted"
	TimedOut     Outcome = "timed-out"
	ToolFailed   Outcome = "tool-failed" // the profiler, or its export, failed
	Unsupported  Outcome = "unsupported" // a report that this version cannot read
	Invalid      Outcome = "invalid"     // a report that contradicts itself
)
