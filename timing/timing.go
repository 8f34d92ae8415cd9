// Package timing measures one operation: the timing modes, the instruments they
// are read with, and the loops that do it on a GPU stream and on the host clock.
//
// It must not know contracts, arms, rounds or statistics: it returns raw samples.
package timing

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is a timing mode without its count.
type Kind string

// The timing modes. Span, batch, graph and kernel are device time; submit and
// latency are host time.
const (
	Span    Kind = "span"    // one operation between two events, the device idle before
	Batch   Kind = "batch"   // N launches between two events, divided by N
	Graph   Kind = "graph"   // a graph of N operations replayed between two events, divided by N
	Submit  Kind = "submit"  // host time to submit one operation, no synchronisation
	Latency Kind = "latency" // host time from submit to completion
	Kernel  Kind = "kernel"  // sum of the kernel durations of one operation
)

// Mode is a timing mode with the number of operations that share one sample.
type Mode struct {
	Kind Kind
	N    int // batch and graph; 1 otherwise
}

// ParseMode reads "span", "batch:100", "graph:100", "submit", "latency" or "kernel".
func ParseMode(s string) (Mode, error) {
	name, count, counted := strings.Cut(s, ":")
	switch k := Kind(name); k {
	case Span, Submit, Latency, Kernel:
		if counted {
			return Mode{}, fmt.Errorf("timing mode %q: %s takes no count", s, name)
		}
		return Mode{k, 1}, nil
	case Batch, Graph:
		if !counted {
			return Mode{}, fmt.Errorf("timing mode %q needs a count, such as %s:100", s, name)
		}
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > 1_000_000 {
			return Mode{}, fmt.Errorf("timing mode %q: the count must be between 1 and 1000000", s)
		}
		return Mode{k, n}, nil
	}
	return Mode{}, fmt.Errorf("unknown timing mode %q (span, batch:N, graph:N, submit, latency, kernel)", s)
}

func (m Mode) String() string {
	if m.Kind == Batch || m.Kind == Graph {
		return string(m.Kind) + ":" + strconv.Itoa(m.N)
	}
	return string(m.Kind)
}

// Cache is a cache state.
type Cache string

// Hot repeats the operation on the same buffers; cold flushes the last-level
// cache before every sample.
const (
	Hot  Cache = "hot"
	Cold Cache = "cold"
)

// Instrument is what a number was read with. Numbers of different instruments
// are never mixed, subtracted or averaged together.
type Instrument string

// The instruments of this package.
const (
	CUDAEvent Instrument = "cuda-event"
	CUPTI     Instrument = "cupti"
	HostClock Instrument = "host-clock"
)

// Request asks for samples of one operation.
type Request struct {
	Mode  Mode
	Cache Cache
	// Warmup operations run first and are not sampled.
	Warmup int
	// Samples is the number wanted. Measuring stops early, with MinSamples at
	// least, once BudgetUS microseconds of host time are spent (0: no limit).
	Samples    int
	MinSamples int
	BudgetUS   float64
	// OnceUS estimates the host time of one operation and LimitUS is the longest
	// sample wanted: a mode whose sample would take longer is unavailable. 0: no
	// limit.
	OnceUS, LimitUS float64
}

// Reading is what a measurement returns. Samples are microseconds per operation.
type Reading struct {
	Instrument Instrument
	Samples    []float64
	// Operations that share one sample: N in batch and graph mode, else 1.
	Operations int
	// Launches is the number of device kernels of one operation, 0 if unknown.
	Launches int
	// ReplayUS holds, in graph mode, the host time of each whole replay from
	// submit to completion, microseconds (instrument: host-clock).
	ReplayUS []float64
	// Kernels names the kernels of one operation in order (kernel mode).
	Kernels []string
}
