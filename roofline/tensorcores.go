package roofline

import "strings"

// tensorOperations are the counters of operations of the tensor cores, by the type of
// what they multiply: on compute capability 9.0 all that there are. Devices of other
// generations lack some of them and have others.
//
// On an H200 each counts two operations per multiply-add, as a test of this package
// shows with dense products of each type: those of bf16, fp16, tf32 and fp8 by wgmma,
// those of int8 and fp64 by mma.sync. Sparse products were not tried.
var tensorOperations = []tensorOperation{
	{TensorFP16, "sm__ops_path_tensor_src_fp16.sum"},
	{TensorBF16, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"},
	{TensorTF32, "sm__ops_path_tensor_src_tf32_dst_fp32.sum"},
	{TensorFP64, "sm__ops_path_tensor_src_fp64.sum"},
	{TensorFP8, "sm__ops_path_tensor_src_fp8.sum"},
	{TensorINT8, "sm__ops_path_tensor_src_int8.sum"},
	{TensorINT1, "sm__ops_path_tensor_src_int1.sum"},
}

type tensorOperation struct {
	unit    Resource
	counter string
}

// TensorCores says whether tensor cores multiplied matrices during a launch, from
// counters of Nsight Compute; nil where no counter tells.
//
// That their pipe was busy does not tell: HFMA2.MMA passes through it too, with which
// compilers load constants into registers. On an H200 the cycles of the pipe in kernels
// without a matrix go with the HFMA2 that they executed, as a test of package capture
// shows. What tells is the operations by type (sm__ops_path_tensor_…); the part of the
// pipe that multiplies doubles, and nothing else (…_op_dmma); and the pipe without
// HFMA2 (sm__pipe_tensor_type_hmma_…), which lacks doubles, and is a difference, so that
// its least and greatest over the SMs scatter around zero. A pipe that was never busy
// tells, too.
func TensorCores(get Get, names []string) *bool {
	var operations, doubles, matrices, pipe evidence
	for _, name := range names {
		n, _, ok := get(name)
		if !ok || strings.Contains(name, ".peak_sustained") { // what could be, not what was
			continue
		}
		switch {
		case strings.Contains(name, "ops_path_tensor") && strings.HasSuffix(name, ".sum"):
			operations.add(n)
		case strings.Contains(name, "pipe_tensor_type"):
			if strings.Contains(name, ".sum") || strings.Contains(name, ".avg") {
				matrices.add(n)
			}
		case strings.Contains(name, "pipe_tensor"):
			pipe.add(n)
			if strings.Contains(name, "_op_dmma") {
				doubles.add(n)
			}
		}
	}
	switch {
	case operations.positive || doubles.positive || matrices.positive:
		return new(true)
	case everyType(get) || matrices.known || pipe.known && !pipe.positive:
		return new(false)
	}
	return nil
}

// everyType reports whether the operations of all types were counted: some of them
// say nothing about the others.
func everyType(get Get) bool {
	for _, o := range tensorOperations {
		if _, _, ok := get(o.counter); !ok {
			return false
		}
	}
	return true
}

// tensorDemands are the operations of the tensor cores by type. ok is false where they
// are not known: worked is what [TensorCores] says.
func tensorDemands(get Get, worked *bool, from Source) (demands []Demand, ok bool) {
	if worked == nil || !*worked {
		return nil, worked != nil
	}
	if !everyType(get) {
		return nil, false
	}
	for _, o := range tensorOperations {
		if n, _, _ := get(o.counter); n > 0 {
			demands = append(demands, Demand{Resource: o.unit, Amount: Amount{n, from}})
		}
	}
	// The pipe multiplied matrices of a type that no counter here is of.
	return demands, len(demands) > 0
}

// evidence is whether there are readings, and one above zero.
type evidence struct{ known, positive bool }

func (e *evidence) add(n float64) {
	e.known, e.positive = true, e.positive || n > 0
}
