package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"mage/capture"
	"mage/capture/cupti"
	"mage/capture/ncu"
	"mage/capture/nsys"
	"mage/capture/sanitizer"
	"mage/capture/tritonhook"
	"mage/report/profile"
	"mage/unavailable"
)

// captureFlags choose how a program is profiled, and what is shown of it.
type captureFlags struct {
	Backend      string        `help:"Profiler: nsys, ncu, cupti, triton; by default ncu when counters are asked for, else the first tracer that this machine has: nsys, cupti." enum:",nsys,ncu,cupti,triton" default:"" placeholder:"NAME"`
	Sanitize     string        `help:"Check with compute-sanitizer instead: memcheck, racecheck, initcheck, synccheck." enum:",memcheck,racecheck,initcheck,synccheck" default:"" placeholder:"CHECK"`
	CaptureRange string        `help:"What to capture: cuda (between cudaProfilerStart and cudaProfilerStop) or all." enum:"cuda,all" default:"all" placeholder:"RANGE"`
	LaunchCount  int           `help:"Profile this many kernel launches at most." placeholder:"N"`
	Set          string        `help:"Set of counters (ncu): basic, detailed, full, roofline." placeholder:"NAME"`
	Metrics      []string      `help:"Counters by name (ncu)." placeholder:"NAME"`
	GroupBy      []string      `help:"Group launches by ${criteria}; by kernel if none is given." placeholder:"WHAT"`
	Columns      []string      `help:"Columns of the table, in order: ${columns}." placeholder:"NAME"`
	Analyze      bool          `help:"Bandwidth, intensity and bottleneck from measured counters."`
	OutputDir    string        `help:"Where captures are kept." default:"captures" placeholder:"DIR"`
	DB           string        `help:"History to add to; by default ~/.mage/profiles.db." placeholder:"FILE" name:"db"`
	NoPersist    bool          `help:"Leave the history alone."`
	Timeout      time.Duration `help:"End the capture after this time." placeholder:"DURATION"`
	Force        bool          `help:"Capture although another capture is running on the device."`
	Format       string        `help:"How to print: ${enum}." default:"table" enum:"table,markdown,csv,json,latex" placeholder:"FORMAT"`
	JSON         bool          `help:"The same as --format json."`
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
	options := profile.Options{GroupBy: f.GroupBy, Columns: f.Columns, Analyze: f.Analyze}
	if _, err := profile.New(&capture.Capture{}, &capture.Result{}, options); err != nil {
		return usage(err) // before minutes of profiling
	}
	names, err := f.names()
	if err != nil {
		return err
	}
	c, result, failed := f.run(s, names, r)
	if c == nil {
		return usage(failed)
	}
	defer fmt.Fprintf(s.stderr, "Capture: %s (%s)\n", c.Dir, c.Outcome)
	if len(result.Kernels) > 0 || len(result.Findings) > 0 || failed == nil {
		p, err := profile.New(c, result, options)
		if err != nil {
			return err
		}
		format := outputFlags{Format: f.Format, JSON: f.JSON}
		if err := p.Write(s.stdout, format.format(), format.render(s.stdout)); err != nil {
			return err
		}
	}
	for _, w := range c.Warnings {
		fmt.Fprintln(s.stderr, "note:", w)
	}
	if failure, ok := errors.AsType[*capture.Failure](failed); ok && failure.Outcome != capture.Findings {
		fmt.Fprint(s.stderr, tail(filepath.Join(c.Dir, capture.LogFile), 20))
	}
	if !f.NoPersist && len(result.Kernels) > 0 {
		if err := persist(context.WithoutCancel(s.ctx), f.DB, c, result); err != nil && failed == nil {
			return fmt.Errorf("the capture is complete, but not in the history: %w", err)
		}
	}
	return failed
}

// names are the backends to try, in order.
func (f captureFlags) names() ([]string, error) {
	switch {
	case f.Sanitize != "" && f.Backend != "":
		return nil, &exitError{exitUsage, "--sanitize uses compute-sanitizer: leave --backend out"}
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
	for _, name := range names {
		b := backend(name)
		if b == nil {
			continue
		}
		w := newWatcher(s.stderr, name, r.Argv)
		c, result, err = capture.Run(s.ctx, b, r, capture.Options{Root: f.OutputDir, Force: f.Force, Watch: w.watch,
			Versions: map[string]string{"mage": version}})
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

// watcher shows what a capture is doing: one line that is rewritten on a terminal,
// one plain line elsewhere.
type watcher struct {
	w      io.Writer
	what   string
	width  int
	phase  string
	screen bool // a rewritable line is shown
}

func newWatcher(w io.Writer, backend string, argv []string) *watcher {
	width, _ := terminalWidth(w)
	return &watcher{w: w, what: backend + " · " + filepath.Base(argv[0]), width: width}
}

func (w *watcher) watch(st capture.Status) {
	if w.width == 0 {
		if w.phase == "" {
			fmt.Fprintf(w.w, "%s · %s\n", w.what, st.Phase)
		}
		w.phase = st.Phase
		return
	}
	text := []rune(fmt.Sprintf("%s · %s %s · %s", w.what, st.Phase, st.Elapsed.Round(time.Second), st.LastLine))
	if len(text) >= w.width {
		text = append(text[:max(w.width-2, 0)], '…')
	}
	fmt.Fprint(w.w, "\r\x1b[K"+string(text))
	w.screen = true
}

func (w *watcher) close() {
	if w.screen {
		fmt.Fprint(w.w, "\r\x1b[K")
	}
}
