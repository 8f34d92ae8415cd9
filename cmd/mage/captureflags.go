package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"mage/capture"
	"mage/capture/cupti"
	"mage/capture/ncu"
	"mage/capture/nsys"
	"mage/capture/sanitizer"
	"mage/capture/tritonhook"
	"mage/gpu/cuda"
	"mage/internal/printable"
	"mage/report"
	"mage/report/profile"
	"mage/unavailable"
)

// captureFlags choose how a program is profiled, and what is shown of it.
type captureFlags struct {
	Backend      string   `help:"Profiler: nsys, ncu, cupti, triton; by default ncu when counters are asked for, else the first tracer that this machine has: nsys, cupti." enum:",nsys,ncu,cupti,triton" default:"" placeholder:"NAME"`
	Sanitize     string   `help:"Check with compute-sanitizer instead: memcheck, racecheck, initcheck, synccheck." enum:",memcheck,racecheck,initcheck,synccheck" default:"" placeholder:"CHECK"`
	CaptureRange string   `help:"What to capture: cuda (between cudaProfilerStart and cudaProfilerStop) or all." enum:"cuda,all" default:"all" placeholder:"RANGE"`
	LaunchCount  int      `help:"Profile this many kernel launches at most." placeholder:"N"`
	Set          string   `help:"Set of counters (ncu): basic, detailed, full, roofline." placeholder:"NAME"`
	Metrics      []string `help:"Counters by name (ncu)." placeholder:"NAME"`
	GroupBy      []string `help:"Group launches by ${criteria}; by kernel if none is given." placeholder:"WHAT"`
	Columns      []string `help:"Columns of the table, in order: ${columns}." placeholder:"NAME"`
	Analyze      bool     `help:"Bandwidth, intensity, bottleneck, and how near each kernel comes to the ceilings of the device, from measured counters."`
	Ceilings     string   `help:"File of mage doctor --ceilings --output for --analyze, instead of what was measured last on the device (docs/ceilings.md)." type:"path" placeholder:"FILE"`
	Top          int      `help:"Show this many groups at most in a table; 0 shows all." default:"30" placeholder:"N"`
	OutputDir    string   `help:"Where captures are kept." default:"captures" placeholder:"DIR"`
	dbFlags
	NoPersist bool          `help:"Leave the history alone."`
	Timeout   time.Duration `help:"End the capture after this time." placeholder:"DURATION"`
	Force     bool          `help:"Capture although another capture is running on the device."`
	Format    string        `help:"How to print: ${enum}." default:"table" enum:"table,markdown,csv,json,latex" placeholder:"FORMAT"`
	JSON      bool          `help:"The same as --format json."`
}

// backends are the profilers that this version knows; the tracers are first, in
// the order in which they are tried when none is named.
func backends() []capture.Backend {
	return []capture.Backend{nsys.Backend{}, cupti.Backend{}, ncu.Backend{}, sanitizer.Backend{}, tritonhook.Backend{}}
}

// tracers can stand for each other: both see every launch on one timeline.
var tracers = [...]string{"nsys", "cupti"}

// capture profiles a target and prints what was seen.
func (f captureFlags) capture(s *session, r capture.Request) error {
	r.Range, r.LaunchCount, r.Set, r.Metrics, r.Tool, r.Timeout = capture.Range(f.CaptureRange), f.LaunchCount, f.Set, f.Metrics, f.Sanitize, f.Timeout
	if f.Top < 0 {
		return &exitError{exitUsage, fmt.Sprintf("--top %d: want a count, or 0 for all", f.Top)}
	}
	options := profile.Options{GroupBy: f.GroupBy, Columns: f.Columns, Analyze: f.Analyze, Top: f.Top}
	if _, err := profile.New(&capture.Capture{}, &capture.Result{}, options); err != nil {
		return usage(err) // before minutes of profiling
	}
	names, err := f.names()
	if err != nil {
		return err
	}
	given, err := f.ceilings()
	if err != nil {
		return err
	}
	c, result, failed := f.run(s, names, r)
	if c == nil {
		return usage(failed)
	}
	refused := f.under(c, given, &options)
	if err := f.print(s, c, result, options, failed); err != nil {
		return err
	}
	if !f.NoPersist && len(result.Kernels) > 0 {
		if err := f.persist(context.WithoutCancel(s.ctx), c, result); err != nil {
			err = fmt.Errorf("the capture is not in the history: %w", err)
			if failed == nil {
				return err
			}
			fmt.Fprintln(s.stderr, "note:", printable.Line(err.Error()))
		}
	}
	if failed != nil {
		return failed
	}
	return refused
}

// print shows what was seen, or the end of the log where it says why nothing was.
func (f captureFlags) print(s *session, c *capture.Capture, result *capture.Result, options profile.Options, failed error) error {
	format := outputFlags{Format: f.Format, JSON: f.JSON}
	if len(result.Kernels) > 0 || len(result.Findings) > 0 || failed == nil || format.format() == report.JSON {
		p, err := profile.New(c, result, options)
		if err != nil {
			return err
		}
		if err := p.Write(s.stdout, format.format(), format.render(s.stdout)); err != nil {
			return err
		}
	}
	for _, w := range c.Warnings {
		fmt.Fprintln(s.stderr, "note:", printable.Line(w))
	}
	if failure, ok := errors.AsType[*capture.Failure](failed); ok && failure.Outcome != capture.Findings {
		for _, line := range capture.Tail(c.Dir, 20) {
			fmt.Fprintln(s.stderr, line)
		}
	}
	fmt.Fprintf(s.stderr, "Capture: %s (%s)\n", printable.Line(c.Dir), c.Outcome)
	return nil
}

// names are the backends to try, in order.
func (f captureFlags) names() ([]string, error) {
	switch {
	case f.Sanitize != "" && f.Backend != "":
		return nil, &exitError{exitUsage, "--sanitize uses compute-sanitizer: leave --backend out"}
	case f.Sanitize != "" && f.Analyze:
		return nil, &exitError{exitUsage, "--sanitize counts nothing that --analyze could show"}
	case f.Sanitize != "":
		return []string{"sanitizer"}, nil
	case f.Backend != "":
		return []string{f.Backend}, nil
	case f.Set != "" || len(f.Metrics) > 0 || f.Analyze:
		return []string{"ncu"}, nil
	}
	return tracers[:], nil
}

// run captures with the first of the backends that this machine has.
func (f captureFlags) run(s *session, names []string, r capture.Request) (c *capture.Capture, result *capture.Result, err error) {
	var lacking []string
	target := r.Script
	if target == "" && len(r.Argv) > 0 {
		target = r.Argv[0]
	}
	for _, name := range names {
		b := backend(name)
		if b == nil {
			continue
		}
		w := newWatcher(s.stderr, name, filepath.Base(target))
		c, result, err = capture.Run(s.ctx, b, r, capture.Options{Root: f.OutputDir, Devices: visibleGPUs(), Force: f.Force, Stdin: pipedInput(),
			Watch: w.watch, Follow: w.terminal, Versions: map[string]string{"mage": version}})
		w.close()
		u, ok := unavailable.As(err)
		if !ok || c != nil || len(names) == 1 {
			return c, result, err
		}
		lacking = append(lacking, u.Error())
	}
	if len(lacking) == 0 {
		return nil, nil, &exitError{exitUsage, "this version has no backend " + strings.Join(names, " or ")}
	}
	return nil, nil, errors.New(strings.Join(lacking, "; "))
}

// visibleGPUs are the UUIDs of the GPUs that a program started here can use. Where
// nobody can tell, a capture takes all of them.
func visibleGPUs() []string {
	all, err := cuda.DefaultOptions().UUIDs()
	if err != nil {
		return nil
	}
	return all
}

// pipedInput is this process's standard input for the program that is profiled. A
// terminal's stays here: only the foreground's group may read it.
func pipedInput() *os.File {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return os.Stdin
}

func backend(name string) capture.Backend {
	for _, b := range backends() {
		if b.Name() == name {
			return b
		}
	}
	return nil
}

// usage gives errors of usage their exit code.
func usage(err error) error {
	if u, ok := errors.AsType[*capture.UsageError](err); ok {
		return &exitError{exitUsage, u.Problem}
	}
	return err
}
