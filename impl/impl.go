// Package impl is who computes a contract: implementations, opened on a device
// for one case as operations that can be gated and measured.
//
// Its subpackages are the kinds: impl/cpu (Go), impl/native (device kernels
// through the driver), impl/exec (native programs), impl/python (PyTorch and
// Triton in a worker process). It must not know experiments, records or
// statistics.
package impl

import (
	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/timing"
)

// Implementation computes one or more contracts on one device.
type Implementation interface {
	// Name is "cpu/naive", "cuda/first", or a user's own "cuda/NAME".
	Name() string
	// LaunchPath says how work is submitted: "go" (a plain call), "driver",
	// "torch", "inductor", "triton", "cuda-python", "exec".
	LaunchPath() string
	// Device is the id of the device that it runs on: "cpu", "cuda:0".
	Device() string
	// Open prepares the operation: compiles, loads, allocates, uploads. It
	// returns an *unavailable.Error for a contract or shape that it lacks.
	Open(c contract.Contract, d contract.Dims, in contract.Tensors) (Operation, error)
	// State reads the condition of the device it runs on.
	State() (gpu.State, error)
}

// Operation is one implementation opened for one case. It is used by one
// goroutine at a time.
type Operation interface {
	gate.Subject
	// Measure returns samples, or an *unavailable.Error for a mode or cache
	// state that this operation cannot be measured in.
	Measure(timing.Request) (timing.Reading, error)
	// Identity says which source and which binary really run.
	Identity() Identity
	Close() error
}

// Identity is the chain from source to the binary that ran.
type Identity struct {
	SourceSHA256 string `json:"source_sha256,omitempty"`
	// BinarySHA256 is the hash of the cubin, PTX or executable that ran;
	// BinaryKind says which.
	BinarySHA256 string `json:"binary_sha256,omitempty"`
	BinaryKind   string `json:"binary_kind,omitempty"` // "cubin", "ptx", "executable"
	// Compiler is what made the binary: "NVRTC 13.0", "committed PTX", "go1.26".
	Compiler  string             `json:"compiler,omitempty"`
	CompileMS float64            `json:"compile_ms,omitempty"`
	LoadMS    float64            `json:"load_ms,omitempty"`
	Entry     string             `json:"entry,omitempty"`
	Params    map[string]float64 `json:"params,omitempty"` // tunables
	Grid      *[3]uint32         `json:"grid,omitempty"`
	Block     *[3]uint32         `json:"block,omitempty"`
	Shared    int                `json:"dynamic_shared_bytes,omitempty"`
	Resources *gpu.Attributes    `json:"resources,omitempty"`
	SpillLoad *int               `json:"spill_load_bytes,omitempty"`
	SpillStor *int               `json:"spill_store_bytes,omitempty"`
	// Notes is what else a reader should know, in words: the configuration that
	// a tuner chose, the kernels that a compiler made of one operation.
	Notes map[string]string `json:"notes,omitempty"`
}

// OutputNote is the note of an implementation that does not write where it is
// told: a documented difference from all others.
const OutputNote = "output"
