package capture

import (
	"fmt"
	"time"
)

// Capture is capture.json: how the capture came about, and how it ended.
type Capture struct {
	Schema  int    `json:"schema"`
	ID      string `json:"id"` // the directory's name: "20260910T101500Z-1a2b3c"
	Backend string `json:"backend"`
	// Target is the program as asked for; Command what was run around it.
	Target  []string  `json:"target"`
	Command []string  `json:"command"`
	Export  []string  `json:"export,omitempty"`
	Env     []string  `json:"env,omitempty"` // what was added to the environment
	Script  string    `json:"script,omitempty"`
	Range   Range     `json:"range"`
	Launch  int       `json:"launch_count,omitempty"`
	Set     string    `json:"set,omitempty"`
	Metrics []string  `json:"metrics,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Outcome Outcome   `json:"outcome"`
	// Reason says what an outcome other than complete means, Remedy what helps.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
	// ExitCode is that of the command; nil when a signal ended it, or when it did
	// not start. Signal names that signal.
	ExitCode *int              `json:"exit_code,omitempty"`
	Signal   string            `json:"signal,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	Reports  []string          `json:"reports,omitempty"` // native files in the directory
	Device   string            `json:"device,omitempty"`  // its name, as the report gives it
	// UUID is the device's, where only one can have run the kernels.
	UUID     string    `json:"device_uuid,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Launches int       `json:"launches"` // kernels in kernels.json

	// Dir is where it lies.
	Dir string `json:"-"`
}

// Result is what a report says. A nil pointer and an absent counter are what the
// profiler did not measure.
type Result struct {
	Kernels []Kernel // one per launch, in order of start
	Copies  []Copy   // memory copies and fills, in order of start
	Calls   []APICall
	// Allocations of memory, and their ends, in order of time.
	Allocations []Allocation
	// Findings are what compute-sanitizer found.
	Findings []Finding
	Device   string
	Warnings []string
	Versions map[string]string
}

// Dim is a grid in blocks or a block in threads.
type Dim [3]uint32

// String is "x,y,z".
func (d Dim) String() string { return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2]) }

// Kernel is one launch of a kernel.
type Kernel struct {
	Name    string `json:"name"`              // demangled where the report has it so
	Mangled string `json:"mangled,omitempty"` // as linked
	// StartNS is on the profiler's own timeline, nil where it has none.
	StartNS    *int64   `json:"start_ns,omitempty"`
	DurationUS *float64 `json:"duration_us,omitempty"`
	// Process is the operating system's number, where several were captured:
	// correlations and contexts are each process's own.
	Process *int `json:"process,omitempty"`
	Device  *int `json:"device,omitempty"`
	Context *int `json:"context,omitempty"`
	Stream  *int `json:"stream,omitempty"`
	Grid    Dim  `json:"grid"`
	Block   Dim  `json:"block"`
	// Registers of a thread; shared memory of a block, and local memory of a
	// thread, in bytes.
	Registers     *int    `json:"registers,omitempty"`
	StaticShared  *int    `json:"static_shared_bytes,omitempty"`
	DynamicShared *int    `json:"dynamic_shared_bytes,omitempty"`
	Local         *int    `json:"local_bytes,omitempty"`
	Correlation   *int64  `json:"correlation,omitempty"` // that of its APICall
	GraphNode     *uint64 `json:"graph_node,omitempty"`
	// Counters by the profiler's own names, in base units.
	Counters map[string]Counter `json:"counters,omitempty"`
}

// Counter is one reading in a base unit: "s", "B", "B/s", "Hz", "%", "1" and
// quotients of these with the profiler's own nouns: "inst/cycle".
type Counter struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Copy is one copy or fill of memory.
type Copy struct {
	Kind       string  `json:"kind"` // "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "fill", …
	StartNS    int64   `json:"start_ns"`
	DurationUS float64 `json:"duration_us"`
	Bytes      int64   `json:"bytes"`
	Process    *int    `json:"process,omitempty"`
	Device     *int    `json:"device,omitempty"`
	Stream     *int    `json:"stream,omitempty"`
	// Source and Target are kinds of memory: "pageable", "pinned", "device",
	// "managed"; empty where the report does not say.
	Source      string  `json:"source,omitempty"`
	Target      string  `json:"target,omitempty"`
	Correlation *int64  `json:"correlation,omitempty"`
	GraphNode   *uint64 `json:"graph_node,omitempty"`
}

// APICall is one call of the CUDA driver or runtime, by the host.
type APICall struct {
	Name        string  `json:"name"` // "cudaLaunchKernel", "cuMemAlloc_v2"
	StartNS     int64   `json:"start_ns"`
	DurationUS  float64 `json:"duration_us"`
	Process     *int    `json:"process,omitempty"`
	Thread      *int64  `json:"thread,omitempty"`
	Correlation *int64  `json:"correlation,omitempty"`
	// Result is the CUDA error code that it returned, 0 for success.
	Result *int `json:"result,omitempty"`
}

// Allocation is one block of memory that a program took or gave back.
type Allocation struct {
	Kind        string `json:"kind"` // "allocate", "free"
	AtNS        int64  `json:"at_ns"`
	Bytes       int64  `json:"bytes"`
	Address     string `json:"address"`          // hexadecimal: a block's identity while it lives
	Memory      string `json:"memory,omitempty"` // "pinned", "device", "managed"
	Process     *int   `json:"process,omitempty"`
	Device      *int   `json:"device,omitempty"`
	Stream      *int   `json:"stream,omitempty"`
	Correlation *int64 `json:"correlation,omitempty"`
}

// Finding is one kind of error that compute-sanitizer reported.
type Finding struct {
	Kind   string `json:"kind"`            // "Invalid __global__ read of size 4 bytes"
	Level  string `json:"level,omitempty"` // "error", "warning"
	Kernel string `json:"kernel,omitempty"`
	// Address is the memory accessed, hexadecimal, empty where it has none.
	Address string `json:"address,omitempty"`
	Thread  *Dim   `json:"thread,omitempty"`
	Block   *Dim   `json:"block,omitempty"`
	Source  string `json:"source,omitempty"` // "kernel.cu:12"
	Detail  string `json:"detail,omitempty"`
	// Count is how many reports were alike, this one included.
	Count int `json:"count"`
}
