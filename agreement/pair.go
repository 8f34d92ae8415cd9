package agreement

import (
	"mage/gpu/simt"
)

// Pair is a counter of the simulator and what of Nsight Compute counts the same.
type Pair struct {
	Name string
	Here func(simt.Counters) int64
	// GPU computes it from what the profiler counted; false if a metric is missing.
	GPU func(Counted) (int64, bool)
	// Instructions is the metric of the machine instructions that do this, and how
	// many there are in PTX. Where they differ the compiler behind PTX made other
	// accesses of those in the PTX.
	Instructions     string
	HereInstructions func(simt.Counters) int64
}

// The metrics of which names are made.
const (
	requests = "l1tex__t_requests_pipe_lsu_mem_global_op_"
	sectors  = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
	// Wavefronts by instruction, and all that pass the data stage: those that had to
	// wait for other accesses count twice there. The first are what the profiler makes
	// of an instruction's addresses, and not always what the hardware does.
	byInstruction = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
	atDataStage   = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
	conflicts     = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
	executed      = "smsp__sass_inst_executed_op_"
	// machine are all warp instructions.
	machine = "smsp__inst_executed.sum"
)

// Pairs returns the counters that must agree.
func Pairs() []Pair {
	return []Pair{
		{"load requests", loads, sum(requests + "ld.sum"), executed + "global_ld.sum", loads},
		{"load sectors", func(c simt.Counters) int64 { return c.GlobalLoads.Sectors + c.AsyncCopies.Sectors }, sum(sectors + "ld.sum"), executed + "global_ld.sum", loads},
		{"store requests", stores, sum(requests + "st.sum"), executed + "global_st.sum", stores},
		{"store sectors", func(c simt.Counters) int64 { return c.GlobalStores.Sectors }, sum(sectors + "st.sum"), executed + "global_st.sum", stores},
		{"atomic requests", func(c simt.Counters) int64 { return c.GlobalAtomics }, sum(requests+"red.sum", requests+"atom.sum"), "", nil},
		{"shared load wavefronts", func(c simt.Counters) int64 { return c.SharedLoads.Wavefronts }, sharedWavefronts("ld.sum"), executed + "shared_ld.sum", sharedLoads},
		{"shared load groups", func(c simt.Counters) int64 { return c.SharedLoads.Ideal }, groups("ld.sum"), executed + "shared_ld.sum", sharedLoads},
		{"shared load conflicts", func(c simt.Counters) int64 { return c.SharedLoads.Conflicts() }, bankConflicts("ld.sum"), executed + "shared_ld.sum", sharedLoads},
		{"shared store wavefronts", func(c simt.Counters) int64 { return c.SharedStores.Wavefronts }, sharedWavefronts("st.sum"), executed + "shared_st.sum", sharedStores},
		{"shared store conflicts", func(c simt.Counters) int64 { return c.SharedStores.Conflicts() }, bankConflicts("st.sum"), executed + "shared_st.sum", sharedStores},
	}
}

func loads(c simt.Counters) int64        { return c.GlobalLoads.Requests + c.AsyncCopies.Requests }
func stores(c simt.Counters) int64       { return c.GlobalStores.Requests }
func sharedLoads(c simt.Counters) int64  { return c.SharedLoads.Requests }
func sharedStores(c simt.Counters) int64 { return c.SharedStores.Requests }

// sum adds metrics.
func sum(names ...string) func(Counted) (int64, bool) {
	return func(g Counted) (n int64, ok bool) {
		for _, name := range names {
			v, counted := g.Metrics[name]
			if !counted {
				return 0, false
			}
			n += v
		}
		return n, true
	}
}

// sharedWavefronts are those of the instructions' own addresses. A probe is one warp,
// which waits for nobody: what passes the data stage is its own. Those of ldmatrix are
// not counted by instruction.
func sharedWavefronts(op string) func(Counted) (int64, bool) {
	return func(g Counted) (int64, bool) {
		switch {
		case g.alone():
			return sum(atDataStage + op)(g)
		case g.LoadsMatrices && op == "ld.sum":
			return 0, false
		}
		return sum(byInstruction + op)(g)
	}
}

// groups are the wavefronts without any conflict, one per group of lanes served: a
// wavefront that waited for others is counted as a conflict too, and cancels out.
func groups(op string) func(Counted) (int64, bool) {
	return func(g Counted) (int64, bool) {
		stage, ok := g.Metrics[atDataStage+op]
		all, ok1 := g.Metrics[conflicts+op]
		return stage - all, ok && ok1
	}
}

// bankConflicts are those of an instruction's own addresses: what the conflict
// counter says, without the wavefronts that waited for others at the data stage,
// which it counts as well.
func bankConflicts(op string) func(Counted) (int64, bool) {
	return func(g Counted) (int64, bool) {
		all, ok := g.Metrics[conflicts+op]
		stage, ok1 := g.Metrics[atDataStage+op]
		own, ok2 := sharedWavefronts(op)(g)
		return all - (stage - own), ok && ok1 && ok2
	}
}

// Metrics are the names that the pairs and the table of machine instructions use.
func Metrics() []string {
	var all []string
	for _, op := range []string{"ld.sum", "st.sum", "red.sum", "atom.sum"} {
		all = append(all, requests+op, sectors+op)
	}
	for _, op := range []string{"ld.sum", "st.sum"} {
		all = append(all, byInstruction+op, atDataStage+op, conflicts+op, executed+"global_"+op, executed+"shared_"+op)
	}
	return append(all, executed+"ldgsts.sum", machine)
}
