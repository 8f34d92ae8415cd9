package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mage/gpu/cuda"
	"mage/unavailable"
)

// Finding is one thing that this machine offers or lacks.
type Finding struct {
	Area      string `json:"area"` // "GPU", "CUDA", "profilers", "Python", "Rust", "host"
	Item      string `json:"item"` // "NVRTC"
	Available bool   `json:"available"`
	Version   string `json:"version,omitempty"`
	// Detail says more in words: a device's memory, a processor's vectors.
	Detail string `json:"detail,omitempty"`
	// Path is for a person at this machine, never for a record.
	Path string `json:"path,omitempty"`
	// Reason and Remedy say why it is not available and what to install or set.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Options bounds an examination. The zero value takes the defaults.
type Options struct {
	// CUDA says where the driver and NVRTC are; zero takes cuda.DefaultOptions.
	CUDA cuda.Options
	// Programs bounds each program that prints its version: 10 s by default.
	Programs time.Duration
	// Python bounds the import of torch and triton: 60 s by default, because a
	// first import from a cold disk takes tens of seconds.
	Python time.Duration
	// Libraries bounds the loading of libraries and the opening of all devices:
	// 30 s by default.
	Libraries time.Duration
}

func (o Options) withDefaults() Options {
	if o.CUDA == (cuda.Options{}) {
		o.CUDA = cuda.DefaultOptions()
	}
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&o.Programs, 10 * time.Second}, {&o.Python, 60 * time.Second}, {&o.Libraries, 30 * time.Second}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	return o
}

// check examines one subject and reports each finding as soon as it has it.
type check struct {
	area, item string // for the finding of a check that did not end
	limit      time.Duration
	run        func(ctx context.Context, report func(Finding))
}

// Examine looks at everything at once and returns the findings in a fixed order.
// It returns within the longest of the options' deadlines (and a little, for
// killed programs to go), or soon after ctx ends.
func Examine(ctx context.Context, opts Options) []Finding {
	o := opts.withDefaults()
	return runChecks(ctx, []check{
		{"GPU", "NVIDIA driver", o.Libraries, o.driver},
		{"GPU", "devices", o.Libraries, o.devices},
		{"GPU", "simulator", o.Libraries, simulator},
		{"CUDA", "NVRTC", o.Libraries, o.nvrtc},
		{"CUDA", "CUPTI", o.Libraries, cupti},
		{"CUDA", "NVML", o.Libraries, nvml},
		{"CUDA", "cuBLASLt", o.Libraries, cublasLt},
		{"CUDA", "nvcc", o.Programs, nvcc},
		{"profilers", "nsys", o.Programs, nsys},
		{"profilers", "ncu", o.Programs, ncu},
		{"profilers", "hardware counters", o.Programs, counters},
		{"profilers", "compute-sanitizer", o.Programs, sanitizer},
		{"Python", "Python", o.Python, pythonSubjects},
		{"Rust", "rustc", 3 * o.Programs, rust},
		{"Rust", "cargo oxide", o.Programs, oxide},
		{"host", "C compiler", o.Programs, compiler},
		{"host", "processor", o.Programs, processor},
	})
}

// runChecks runs all checks at once. A check that hangs inside a library cannot
// be stopped: it is left behind, and what it had reported is kept.
func runChecks(ctx context.Context, checks []check) []Finding {
	var wg sync.WaitGroup
	results := make([][]Finding, len(checks))
	for i, c := range checks {
		wg.Go(func() { results[i] = c.bounded(ctx) })
	}
	wg.Wait()
	var all []Finding
	for _, r := range results {
		all = append(all, r...)
	}
	return all
}

// grace is what a killed program gets to go before its check is left behind.
const grace = time.Second

func (c check) bounded(parent context.Context) []Finding {
	ctx, cancel := context.WithTimeout(parent, c.limit)
	defer cancel()
	var mu sync.Mutex
	var found []Finding
	report := func(f Finding) {
		mu.Lock()
		defer mu.Unlock()
		f.Area = c.area
		found = append(found, f)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A library that breaks in an unforeseen way is a finding too.
		defer func() {
			if p := recover(); p != nil {
				report(Finding{Item: c.item, Reason: fmt.Sprintf("the examination failed: %v", p)})
			}
		}()
		c.run(ctx, report)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(grace):
			reason := fmt.Sprintf("no answer within %v", c.limit)
			if parent.Err() != nil {
				reason = "the examination was stopped"
			}
			report(Finding{Item: c.item, Reason: reason})
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return append([]Finding(nil), found...)
}

// missing turns an error into a finding.
func missing(item string, err error) Finding {
	f := Finding{Item: item, Reason: err.Error()}
	if u, ok := unavailable.As(err); ok {
		f.Reason, f.Remedy = u.Reason, u.Remedy
	}
	return f
}
