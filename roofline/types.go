package roofline

import "strings"

// Resource is a part of the device that an operation demands something of.
type Resource string

// The resources. Those of arithmetic are by unit and type: a FLOP of one is not a
// FLOP of another.
const (
	DRAM       Resource = "dram"
	L2         Resource = "l2"
	Shared     Resource = "shared"
	FP16       Resource = "fp16" // on the CUDA cores
	FP32       Resource = "fp32"
	FP64       Resource = "fp64"
	TensorFP16 Resource = "tensor-fp16"
	TensorBF16 Resource = "tensor-bf16"
	TensorTF32 Resource = "tensor-tf32"
	TensorFP64 Resource = "tensor-fp64"
	TensorFP8  Resource = "tensor-fp8"
	TensorINT8 Resource = "tensor-int8"
	TensorINT1 Resource = "tensor-int1"
	Launch     Resource = "launch"
)

// Arithmetic reports whether r is counted in operations: FLOPs, but for integers.
func (r Resource) Arithmetic() bool {
	return r == FP16 || r == FP32 || r == FP64 || strings.HasPrefix(string(r), "tensor-")
}

// integer reports whether operations of r are none on floating-point numbers.
func (r Resource) integer() bool { return r == TensorINT8 || r == TensorINT1 }

// Class is what people call it: "memory", "l2", "shared", "compute", "launch".
func (r Resource) Class() string {
	switch {
	case r == DRAM:
		return "memory"
	case r.Arithmetic():
		return "compute"
	}
	return string(r)
}

// Source is where a number comes from: an instrument ("ncu", "cupti", "cuda-event",
// "simt"), or the contract, which is arithmetic.
type Source string

// Contract is what the mathematics needs at least; a kernel may do more.
const Contract Source = "contract"

// Amount is a number and where it comes from.
type Amount struct {
	Value float64 `json:"value"`
	From  Source  `json:"from"`
}

// Demand is what an operation asks of one resource: bytes, or FLOPs.
type Demand struct {
	Resource Resource `json:"resource"`
	Amount   Amount   `json:"amount"`
	// Writes is, of bytes, the part that is written; nil where not known.
	Writes *float64 `json:"writes,omitempty"`
}

// Work is what one operation did, and in what time.
type Work struct {
	TimeUS  *Amount  `json:"time_us,omitempty"` // nil: not measured
	Demands []Demand `json:"demands,omitempty"`
	// Mode is the timing mode of the time, and Launches the kernels of the operation:
	// what an empty kernel takes in the same mode is a ceiling too. Both may be empty.
	Mode     string `json:"mode,omitempty"`
	Launches int    `json:"launches,omitempty"`
	// Unknown names what was not counted: "FLOPs: tensor cores worked".
	Unknown []string `json:"unknown,omitempty"`
}

// Roof is the most that a resource gives.
type Roof struct {
	Name     string   `json:"name"` // "dram-copy"
	Resource Resource `json:"resource"`
	// Rate is in bytes or FLOPs per second.
	Rate float64 `json:"rate"`
	// Writes is, of bytes, the part that the roof's kernel writes.
	Writes float64 `json:"writes,omitempty"`
}

// Roofs are those of one device.
type Roofs struct {
	Device string `json:"device"` // "NVIDIA H200"
	UUID   string `json:"uuid,omitempty"`
	// About says when and with what they were measured.
	About string `json:"about,omitempty"`
	Roofs []Roof `json:"roofs"`
	// LaunchUS is what an empty kernel takes, by timing mode.
	LaunchUS map[string]float64 `json:"launch_us,omitempty"`
	// Lacking says why a resource has no roof.
	Lacking map[Resource]string `json:"lacking,omitempty"`
}

// Share is one demand under its roof.
type Share struct {
	Demand
	Roof string `json:"roof"`
	// Ceiling and Attained are per second; Attained is nil without a time.
	Ceiling  float64  `json:"ceiling"`
	Attained *float64 `json:"attained,omitempty"`
	// BoundUS is the least time that the roof allows, Fraction that over the time.
	BoundUS  float64  `json:"bound_us"`
	Fraction *float64 `json:"fraction,omitempty"`
}

// Placement is where an operation lies.
type Placement struct {
	// Intensity is FLOPs per byte of DRAM; nil unless both are known. Ridge is the
	// intensity from which on arithmetic and not DRAM is the nearer ceiling.
	Intensity *float64 `json:"flops_per_byte,omitempty"`
	Ridge     *float64 `json:"ridge_flops_per_byte,omitempty"`
	// FLOPRate is FLOPs per second, of all units; nil unless all and the time are known.
	FLOPRate *float64 `json:"flops_per_s,omitempty"`
	Shares   []Share  `json:"shares,omitempty"`
	// Binds is the nearest ceiling of those known, "" without any; Fraction how near
	// the operation comes to it, 1 at the ceiling, nil without a time.
	Binds    Resource `json:"binds,omitempty"`
	Roof     string   `json:"roof,omitempty"`
	Fraction *float64 `json:"fraction,omitempty"`
	// Unknown says what was not measured; the ceiling that binds may be among it.
	Unknown []string `json:"unknown,omitempty"`
	// Notes say what to keep in mind: instruments that were put together.
	Notes []string `json:"notes,omitempty"`
}
