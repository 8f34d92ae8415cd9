// Package gpu is the device interface: memory, modules, launches, streams,
// events, graphs, kernel traces and device state. Package gpu/cuda implements it
// with the CUDA driver, gpu/simt by executing PTX on the CPU.
//
// It must not know contracts, kernels as data, or statistics. What a device does
// not offer it reports with an *unavailable.Error.
package gpu

import (
	"math"
)

// Ptr is an address in device memory.
type Ptr uint64

// Device is one opened device. It and everything made from it belong to the
// goroutine that opened it, which the implementation may lock to its thread:
// a hop to another thread costs more than most kernels take.
type Device interface {
	Info() Info
	// Alloc returns bytes of device memory, aligned to 256 bytes at least. Zero
	// bytes give a valid, distinct pointer.
	Alloc(bytes int64) (Ptr, error)
	Free(Ptr) error
	// Upload, Download and Fill complete before they return.
	Upload(dst Ptr, src []byte) error
	Download(dst []byte, src Ptr) error
	Fill(dst Ptr, value byte, bytes int64) error
	// Load makes a module of PTX text or a cubin.
	Load(image []byte) (Module, error)
	NewStream() (Stream, error)
	NewEvent() (Event, error)
	// TraceKernels runs f and returns one record per kernel that completed in
	// it, in order of start. f must synchronize what it submits.
	TraceKernels(f func() error) ([]KernelRecord, error)
	// State reads clocks, temperature, power and company; cheap enough to call
	// between rounds, never inside a timed region.
	State() (State, error)
	// ProfilerStart and ProfilerStop bracket a region for an external profiler.
	ProfilerStart() error
	ProfilerStop() error
	// Close frees everything made from the device. It is safe after a sticky
	// error and safe to call twice.
	Close() error
}

// Info describes a device. Rates are upper bounds from its own attributes.
type Info struct {
	Backend             string  `json:"backend"` // "cuda", "simt"
	Name                string  `json:"name"`    // "NVIDIA H200"
	UUID                string  `json:"uuid,omitempty"`
	ComputeCapability   string  `json:"compute_capability"` // "9.0"
	Multiprocessors     int     `json:"multiprocessors"`
	MaxThreadsPerBlock  int     `json:"max_threads_per_block"`
	SharedPerBlock      int     `json:"shared_per_block_bytes"`
	SharedPerBlockOptin int     `json:"shared_per_block_optin_bytes"`
	L2Bytes             int64   `json:"l2_bytes"`
	MemoryBytes         int64   `json:"memory_bytes"`
	MaxSMClockMHz       float64 `json:"max_sm_clock_mhz"`
	PeakBandwidth       float64 `json:"peak_bandwidth_bytes_per_s"` // from memory clock × bus width
	PeakFP32            float64 `json:"peak_fp32_flops_per_s"`      // FMA counted as two
	DriverVersion       string  `json:"driver_version,omitempty"`   // "580.159.04"
	CUDAVersion         string  `json:"cuda_version,omitempty"`     // "13.0"
	// PowerLimitW and PersistenceMode are settings of the machine that move
	// timings; nil when the device does not tell.
	PowerLimitW     *float64 `json:"power_limit_w,omitempty"`
	PersistenceMode *bool    `json:"persistence_mode,omitempty"`
}

// Module is loaded device code.
type Module interface {
	Function(name string) (Function, error)
	Unload() error
}

// Function is a kernel entry point.
type Function interface {
	Name() string
	Attributes() (Attributes, error)
	// Bind fixes configuration and arguments once, so that submitting the launch
	// allocates nothing. It raises the dynamic shared-memory limit when needed.
	Bind(Config, ...Arg) (Launch, error)
}

// Attributes are the resources of a compiled function.
type Attributes struct {
	Registers          int `json:"registers"`
	StaticSharedBytes  int `json:"static_shared_bytes"`
	LocalBytes         int `json:"local_bytes"` // per thread: stack and spills
	ConstBytes         int `json:"const_bytes"`
	MaxThreadsPerBlock int `json:"max_threads_per_block"`
	PTXVersion         int `json:"ptx_version"`
	BinaryVersion      int `json:"binary_version"`
}

// Config is a launch configuration.
type Config struct {
	Grid, Block   [3]uint32
	DynamicShared uint32 // bytes
}

// Arg is one kernel argument of 4 or 8 bytes.
type Arg struct {
	Bits uint64
	Size uint8
}

// Pointer, Int32, Uint32, Int64, Float32 and Float64 make arguments.
func Pointer(p Ptr) Arg     { return Arg{uint64(p), 8} }
func Int32(v int32) Arg     { return Arg{uint64(uint32(v)), 4} }
func Uint32(v uint32) Arg   { return Arg{uint64(v), 4} }
func Int64(v int64) Arg     { return Arg{uint64(v), 8} }
func Float32(v float32) Arg { return Arg{uint64(math.Float32bits(v)), 4} }
func Float64(v float64) Arg { return Arg{math.Float64bits(v), 8} }

// Launch is a bound launch, ready to be submitted any number of times.
type Launch interface {
	Submit(Stream) error
}

// Stream is an in-order queue of device work.
type Stream interface {
	Synchronize() error
	Record(Event) error
	// FillAsync and CopyAsync queue device-side work without waiting.
	FillAsync(dst Ptr, value byte, bytes int64) error
	CopyAsync(dst, src Ptr, bytes int64) error
	// Capture records what f submits to this stream into an instantiated graph
	// instead of running it. On error nothing is left capturing.
	Capture(f func() error) (Graph, error)
	Replay(Graph) error
	Destroy() error
}

// Event is a point in a stream's work.
type Event interface {
	Synchronize() error
	// MicrosecondsSince returns the device time from start to this event; both
	// must have completed.
	MicrosecondsSince(start Event) (float64, error)
	Destroy() error
}

// Graph is an instantiated graph of device work.
type Graph interface {
	// Nodes is the number of nodes captured.
	Nodes() int
	Destroy() error
}

// KernelRecord is one kernel execution as a tracer saw it.
type KernelRecord struct {
	Name               string
	StartNS, EndNS     uint64 // device timeline, nanoseconds
	Grid, Block        [3]uint32
	Registers          int
	StaticSharedBytes  int
	DynamicSharedBytes int
	LocalBytes         int // per thread
	Correlation        uint32
	GraphNode          uint64 // 0 outside a graph
}

// State is the condition of a device at one moment. A nil pointer is a reading
// that the device does not offer.
type State struct {
	SMClockMHz     *int     `json:"sm_clock_mhz,omitempty"`
	MemoryClockMHz *int     `json:"memory_clock_mhz,omitempty"`
	TemperatureC   *int     `json:"temperature_c,omitempty"`
	PowerW         *float64 `json:"power_w,omitempty"`
	UtilisationPct *int     `json:"utilisation_pct,omitempty"`
	// Throttle names the active reasons that slow the clocks ("sw-power-cap",
	// "hw-thermal"); an idle GPU or an application clock setting is not one.
	Throttle []string `json:"throttle,omitempty"`
	// OtherProcesses counts processes other than this one with a context here.
	OtherProcesses *int `json:"other_processes,omitempty"`
	// HostLoad is the one-minute load average per core (CPU "devices").
	HostLoad *float64 `json:"host_load,omitempty"`
	// StealPct is processor time taken by the hypervisor since the last reading.
	StealPct *float64 `json:"steal_pct,omitempty"`
	// Preemptions counts involuntary context switches of this process so far.
	Preemptions *int64 `json:"preemptions,omitempty"`
}
