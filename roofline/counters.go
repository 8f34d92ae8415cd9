package roofline

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

// TensorCounter is the counter that tells that tensor cores did not work, if others
// do not tell more.
const TensorCounter = "sm__inst_executed_pipe_tensor.sum"

func operationCounter(name string) string {
	return "smsp__sass_thread_inst_executed_op_" + name + "_pred_on.sum"
}

// Counters lists what FromCounters reads, for --metrics of Nsight Compute.
func Counters() []string {
	out := []string{duration, dramRead, dramWrite, l2Sectors, TensorCounter}
	for _, o := range operations {
		out = append(out, operationCounter(o.counter))
	}
	return out
}

// FromCounters is the work of one launch as Nsight Compute saw it, its own time
// included. names lists the counters that there are, for [TensorCores]: their
// operations no counter of instructions tells.
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
	sums := map[Resource]float64{}
	for _, o := range operations {
		n, _, ok := get(operationCounter(o.counter))
		if !ok {
			return // Place says so
		}
		sums[o.unit] += n * o.flops
	}
	for _, unit := range []Resource{FP32, FP64, FP16} {
		if sums[unit] > 0 || unit == FP32 {
			w.Demands = append(w.Demands, Demand{Resource: unit, Amount: Amount{sums[unit], from}})
		}
	}
	switch worked := TensorCores(get, names); {
	case worked == nil:
		w.Unknown = append(w.Unknown, "FLOPs of tensor cores: no counter tells whether they worked")
	case *worked:
		w.Unknown = append(w.Unknown, "FLOPs of tensor cores: they worked, and their instructions do not tell how much")
	}
}

// FLOPs are those of all units; nil unless all are known.
func (w Work) FLOPs() *float64 {
	if w.lacks("FLOPs") || !w.demands(Resource.Arithmetic) {
		return nil
	}
	sum := 0.0
	for _, d := range w.Demands {
		if d.Resource.Arithmetic() {
			sum += d.Amount.Value
		}
	}
	return &sum
}
