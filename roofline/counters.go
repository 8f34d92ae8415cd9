package roofline

import "slices"

// Get returns a counter of Nsight Compute by its name, with its base unit ("B",
// "s"); ok is false where it was not collected.
type Get func(name string) (value float64, unit string, ok bool)

// sector is the unit of transfer between L1 and L2, bytes.
const sector = 32

// operations are counters of executed thread instructions by unit, and the
// operations of one: those of half precision work on pairs.
var operations = []struct {
	unit    Resource
	counter string
	flops   float64
}{
	{FP32, "fadd", 1}, {FP32, "fmul", 1}, {FP32, "ffma", 2},
	{FP64, "dadd", 1}, {FP64, "dmul", 1}, {FP64, "dfma", 2},
	{FP16, "hadd", 2}, {FP16, "hmul", 2}, {FP16, "hfma", 4},
}

// The counters that FromCounters reads.
const (
	duration  = "gpu__time_duration.sum"
	dramRead  = "dram__bytes_read.sum"
	dramWrite = "dram__bytes_write.sum"
	l2Sectors = "lts__t_sectors_srcunit_tex.sum"
)

func operationCounter(name string) string {
	return "smsp__sass_thread_inst_executed_op_" + name + "_pred_on.sum"
}

// Counters lists what FromCounters reads, for --metrics of Nsight Compute.
func Counters() []string {
	out := []string{duration, dramRead, dramWrite, l2Sectors}
	for _, o := range operations {
		out = append(out, operationCounter(o.counter))
	}
	for _, o := range tensorOperations {
		out = append(out, o.counter)
	}
	return out
}

// Lacking lists which of [Counters] a launch lacks: those of tensor cores only where
// their operations are unknown without.
func Lacking(get Get, names []string) []string {
	_, known := tensorDemands(get, TensorCores(get, names), "")
	return slices.DeleteFunc(Counters(), func(name string) bool {
		_, _, ok := get(name)
		return ok || known && slices.ContainsFunc(tensorOperations, func(o tensorOperation) bool { return o.counter == name })
	})
}

// FromCounters is the work of one launch as Nsight Compute saw it, its own time
// included. names lists the counters that there are, for [TensorCores]: the counters
// of instructions do not tell their operations.
func FromCounters(get Get, names []string) Work {
	const ncu Source = "ncu"
	var w Work
	if s, unit, ok := get(duration); ok && unit == "s" {
		w.TimeUS = &Amount{s * 1e6, ncu}
	}
	read, _, readOK := get(dramRead)
	written, _, writtenOK := get(dramWrite)
	if readOK && writtenOK {
		d := Demand{Resource: DRAM, Amount: Amount{read + written, ncu}}
		if read+written > 0 {
			writes := written / (read + written)
			d.Writes = &writes
		}
		w.Demands = append(w.Demands, d)
	}
	if n, _, ok := get(l2Sectors); ok {
		w.Demands = append(w.Demands, Demand{Resource: L2, Amount: Amount{n * sector, ncu}})
	} else {
		w.Unknown = append(w.Unknown, "bytes of the L2: not measured")
	}
	w.arithmetic(get, names, ncu)
	return w
}

func (w *Work) arithmetic(get Get, names []string, from Source) {
	worked := TensorCores(get, names)
	tensor, known := tensorDemands(get, worked, from)
	cuda, counted := cudaDemands(get, from)
	switch {
	case !counted && len(tensor) == 0: // Place says so
	case !counted:
		w.Unknown = append(w.Unknown, "FLOPs of CUDA cores: not measured")
	case worked == nil:
		w.Unknown = append(w.Unknown, "FLOPs of tensor cores: no counter tells whether they worked")
	case !known:
		w.Unknown = append(w.Unknown, "FLOPs of tensor cores: they worked, and no counter tells how much")
	}
	w.Demands = slices.Concat(w.Demands, cuda, tensor)
}

// cudaDemands are the FLOPs of the CUDA cores by type; those of single precision also
// where there are none. ok is false where some were not counted.
func cudaDemands(get Get, from Source) (demands []Demand, ok bool) {
	sums := map[Resource]float64{}
	for _, o := range operations {
		n, _, ok := get(operationCounter(o.counter))
		if !ok {
			return nil, false
		}
		sums[o.unit] += n * o.flops
	}
	for _, unit := range []Resource{FP32, FP64, FP16} {
		if sums[unit] > 0 || unit == FP32 {
			demands = append(demands, Demand{Resource: unit, Amount: Amount{sums[unit], from}})
		}
	}
	return demands, true
}

// FLOPs are those of all units, without operations on integers; nil unless all are
// known.
func (w Work) FLOPs() *float64 {
	if w.lacks("FLOPs") || !w.demands(Resource.Arithmetic) {
		return nil
	}
	sum := 0.0
	for _, d := range w.Demands {
		if d.Resource.Arithmetic() && !d.Resource.integer() {
			sum += d.Amount.Value
		}
	}
	return &sum
}
