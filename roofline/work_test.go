package roofline

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// find returns the demand on a resource, or one of nothing.
func find(w Work, r Resource) Demand {
	if i := slices.IndexFunc(w.Demands, func(d Demand) bool { return d.Resource == r }); i >= 0 {
		return w.Demands[i]
	}
	return Demand{}
}

func TestFromContract(t *testing.T) {
	const MB = 1e6
	for _, c := range []struct {
		name                 string
		bytes, written, l2   float64
		cold                 bool
		dram, l2Bytes, share float64
	}{
		{"hot and small", 25 * MB, 12 * MB, 50 * MB, false, 0, 25 * MB, 0},
		{"cold and small", 25 * MB, 12 * MB, 50 * MB, true, 13 * MB, 25 * MB, 0},
		{"hot and large", 500 * MB, 250 * MB, 50 * MB, false, 450 * MB, 500 * MB, 0.5},
		{"cold and large", 500 * MB, 250 * MB, 50 * MB, true, 450 * MB, 500 * MB, 200. / 450},
		{"no L2 known", 25 * MB, 12 * MB, 0, false, 0, 25 * MB, 0},
	} {
		w := FromContract(FP32, 7, c.bytes, c.written, c.l2, c.cold)
		d := find(w, DRAM)
		if math.Abs(d.Amount.Value-c.dram) > 1 || find(w, L2).Amount.Value != c.l2Bytes || find(w, FP32).Amount != (Amount{7, Contract}) {
			t.Errorf("%s: %+v", c.name, w)
		}
		if c.dram > 0 && math.Abs(*d.Writes-c.share) > 1e-9 {
			t.Errorf("%s: %g of it are written", c.name, *d.Writes)
		}
		if c.dram == 0 && !slices.Contains(w.Unknown, "bytes of DRAM: the L2 may hold everything") {
			t.Errorf("%s: %v", c.name, w.Unknown)
		}
	}
	if UnitOf("bf16") != TensorBF16 || UnitOf("int8") != "" || len(FromContract("", 7, 0, 0, 0, true).Demands) > 0 {
		t.Error("a unit that is not known")
	}
}

func TestFromCounters(t *testing.T) {
	const pipe = "sm__inst_executed_pipe_tensor.sum"
	values := map[string]float64{dramRead: 300, dramWrite: 100, l2Sectors: 20, duration: 2e-6, pipe: 0}
	for _, o := range operations {
		values[operationCounter(o.counter)] = 10
	}
	get := func(name string) (float64, string, bool) {
		v, ok := values[name]
		unit := "inst"
		if name == duration {
			unit = "s"
		}
		return v, unit, ok
	}
	work := func() Work { return FromCounters(get, slices.Collect(maps.Keys(values))) }
	lacking := func() []string { return Lacking(get, slices.Collect(maps.Keys(values))) }
	w := work()
	if w.TimeUS.Value != 2 || find(w, DRAM).Amount != (Amount{400, "ncu"}) || *find(w, DRAM).Writes != 0.25 || find(w, L2).Amount.Value != 640 || len(w.Unknown) > 0 {
		t.Errorf("%+v", w)
	}
	// 1 + 1 + 2 per instruction, twice that of pairs of halves.
	if find(w, FP32).Amount.Value != 40 || find(w, FP64).Amount.Value != 40 || find(w, FP16).Amount.Value != 80 {
		t.Errorf("%+v", w)
	}
	if l := lacking(); len(l) > 0 || w.FLOPs() == nil || *w.FLOPs() != 160 {
		t.Errorf("%v FLOPs without %v", w.FLOPs(), l)
	}
	values[pipe] = 5 // HFMA2.MMA, or matrices
	if w := work(); len(w.Unknown) != 1 || !strings.HasPrefix(w.Unknown[0], "FLOPs of tensor cores: no counter tells") {
		t.Errorf("%v", w.Unknown)
	}
	if l := lacking(); len(l) != len(tensorOperations) || work().FLOPs() != nil {
		t.Errorf("%v FLOPs without %v", work().FLOPs(), l)
	}
	delete(values, pipe)
	if w := work(); len(w.Unknown) != 1 || !strings.HasPrefix(w.Unknown[0], "FLOPs of tensor cores: no counter tells") {
		t.Errorf("%v", w.Unknown)
	}
	for _, o := range tensorOperations {
		values[o.counter] = 0
	}
	if w := work(); len(w.Unknown) > 0 || len(lacking()) > 0 || *w.FLOPs() != 160 {
		t.Errorf("%+v, lacking %v", w, lacking())
	}
	// Halves and bytes at once; operations on integers are no FLOPs.
	values[tensorOperations[0].counter], values[tensorOperations[5].counter] = 1000, 9000
	if w := work(); find(w, TensorFP16).Amount.Value != 1000 || find(w, TensorINT8).Amount.Value != 9000 || *w.FLOPs() != 1160 || len(w.Unknown) > 0 {
		t.Errorf("%+v", w)
	}
	ffma := values[operationCounter("ffma")]
	delete(values, operationCounter("ffma")) // those of the tensor cores are still known
	if w := work(); find(w, TensorFP16).Amount.Value != 1000 || w.FLOPs() != nil || !slices.Contains(w.Unknown, "FLOPs of CUDA cores: not measured") {
		t.Errorf("%+v", w)
	}
	values[operationCounter("ffma")] = ffma
	delete(values, tensorOperations[1].counter) // one type is not counted
	if w := work(); len(w.Unknown) != 1 || !strings.HasPrefix(w.Unknown[0], "FLOPs of tensor cores: they worked") || find(w, TensorFP16).Amount.Value != 0 {
		t.Errorf("%+v", w)
	}
	if l := lacking(); !slices.Equal(l, []string{tensorOperations[1].counter}) {
		t.Errorf("lacking %v", l)
	}
	// Matrices of a type that there is no counter of.
	for _, o := range tensorOperations {
		values[o.counter] = 0
	}
	values["sm__pipe_tensor_type_x_cycles_active.sum"] = 7
	if w := work(); len(w.Unknown) != 1 || !strings.HasPrefix(w.Unknown[0], "FLOPs of tensor cores: they worked") || w.FLOPs() != nil {
		t.Errorf("%+v", w)
	}
	for _, o := range tensorOperations {
		delete(values, o.counter)
	}
	delete(values, "sm__pipe_tensor_type_x_cycles_active.sum")
	delete(values, operationCounter("ffma"))
	delete(values, dramWrite)
	delete(values, l2Sectors)
	w = work()
	if len(w.Demands) > 0 {
		t.Errorf("%+v", w.Demands)
	}
	for _, name := range []string{dramRead, duration, l2Sectors, "sm__ops_path_tensor_src_fp16.sum"} {
		if !slices.Contains(Counters(), name) {
			t.Errorf("%s is not asked for", name)
		}
	}
}

func TestTensorCores(t *testing.T) {
	const (
		pipe       = "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active"
		matrices   = "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active"
		avg, most  = matrices + ".avg.pct_of_peak_sustained_elapsed", matrices + ".max.pct_of_peak_sustained_elapsed"
		doubles    = "sm__inst_executed_pipe_tensor_op_dmma.sum"
		operations = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
		peak       = "sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained"
	)
	every := func(n float64) map[string]float64 {
		values := map[string]float64{pipe: 1.2}
		for _, o := range tensorOperations {
			values[o.counter] = n
		}
		return values
	}
	with := func(values map[string]float64, name string, n float64) map[string]float64 {
		values[name] = n
		return values
	}
	for _, c := range []struct {
		name   string
		values map[string]float64
		want   string
	}{
		{"none", nil, "unknown"},
		{"an idle pipe", map[string]float64{pipe: 0}, "no"},
		{"a busy pipe", map[string]float64{pipe: 1.2}, "unknown"},
		{"a busy pipe without matrices", map[string]float64{pipe: 1.2, avg: 0, most: 0.07}, "no"},
		{"matrices", map[string]float64{pipe: 1.2, avg: 0.4}, "yes"},
		{"operations", map[string]float64{pipe: 1.2, operations: 4096, avg: 0}, "yes"},
		{"no operations of one type", map[string]float64{pipe: 1.2, operations: 0, peak: 4096}, "unknown"},
		{"no operations", every(0), "no"},
		{"operations of one type", with(every(0), operations, 4096), "yes"},
		{"matrices of no such type", with(every(0), avg, 0.4), "yes"},
		{"doubles, of which the pipe by type knows nothing", map[string]float64{avg: 0, doubles: 12}, "yes"},
		{"no doubles", map[string]float64{avg: 0, doubles: 0}, "no"},
		{"only what could be", map[string]float64{peak: 4096, most: 0.07, doubles + ".peak_sustained": 1}, "unknown"},
	} {
		got := "unknown"
		if worked := TensorCores(func(name string) (float64, string, bool) { v, ok := c.values[name]; return v, "", ok }, slices.Collect(maps.Keys(c.values))); worked != nil {
			got = map[bool]string{true: "yes", false: "no"}[*worked]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
