package contract

import (
	"fmt"
	"sort"
	"strings"

	"mage/tensor"
)

// Precision is a precision mode. Every mode is a contract of its own, with its
// own tolerance; none silently replaces another.
type Precision string

// FP32 is strict IEEE single precision: no TF32 anywhere.
const FP32 Precision = "fp32"

// Dims gives each dimension of a contract its size: {"M": 1024, …}.
type Dims map[string]int

// Format writes the dims in the given order as "M=1024,N=1024".
func (d Dims) Format(order []string) string {
	parts := make([]string, 0, len(order))
	for _, n := range order {
		parts = append(parts, fmt.Sprintf("%s=%d", n, d[n]))
	}
	return strings.Join(parts, ",")
}

// Tensors maps a contract's buffer names ("a", "rowptr") to their data.
type Tensors map[string]tensor.Tensor

// Names returns the names in alphabetical order.
func (t Tensors) Names() []string {
	names := make([]string, 0, len(t))
	for n := range t {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Tolerance accepts a value v against a reference r when
// |v − r| ≤ Atol + Rtol·|r| and v is finite.
type Tolerance struct {
	Rtol float64 `json:"rtol"`
	Atol float64 `json:"atol"`
}

// Contract is what is computed: mathematics, shapes, precision mode,
// tolerance and reference. Implementations of this interface hold no state.
type Contract interface {
	// Name is the contract's word: "matmul".
	Name() string
	Precision() Precision
	// DimNames lists the dimensions in their conventional order.
	DimNames() []string
	// Default and Small are the shapes that every implementation is tried at.
	Default() Dims
	Small() Dims
	// CheckDims returns an *Error unless exactly the dims of DimNames are given,
	// positive (the edge count may be zero), with products below 2³¹.
	CheckDims(Dims) error
	// Inputs lists the input arrays for valid dims, in parameter order.
	Inputs(Dims) []tensor.Spec
	// Output describes the one output array.
	Output(Dims) tensor.Spec
	// CheckInputs returns an *Error unless every input is there, has its length,
	// is finite, and (graphs) has monotone row pointers from 0 to E and indices
	// inside [0, N).
	CheckInputs(Dims, Tensors) error
	// Reference computes the output in float64, on every core, independently of
	// any GPU library. The inputs must have passed CheckInputs.
	Reference(Dims, Tensors) []float64
	// FLOPs counts the floating-point operations that the mathematics needs.
	FLOPs(Dims) float64
	// CompulsoryBytes counts each input read once and the output written once.
	// For graphs it counts the feature rows that are really referenced once.
	CompulsoryBytes(Dims, Tensors) int64
	Tolerance() Tolerance
}

// Error reports dims or inputs that break a contract.
type Error struct {
	Contract string
	Problem  string
}

func (e *Error) Error() string { return e.Contract + ": " + e.Problem }
