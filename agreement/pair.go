package agreement

import "mage/gpu/simt"

// Pair is a counter of the simulator and the metric of Nsight Compute that counts
// the same.
type Pair struct {
	Name   string
	Metric string
	Of     func(simt.Counters) int64
}

const (
	requests = "l1tex__t_requests_pipe_lsu_mem_global_op_"
	sectors  = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
	// These count by instruction. Their namesakes without "smsp__sass_" count what
	// passes the data stage, others' accesses that wait there included.
	wavefronts = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
	conflicts  = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_"
)

// Pairs returns the counters that must agree exactly.
func Pairs() []Pair {
	return []Pair{
		{"load requests", requests + "ld.sum", func(c simt.Counters) int64 { return c.GlobalLoads.Requests }},
		{"load sectors", sectors + "ld.sum", func(c simt.Counters) int64 { return c.GlobalLoads.Sectors }},
		{"store requests", requests + "st.sum", func(c simt.Counters) int64 { return c.GlobalStores.Requests }},
		{"store sectors", sectors + "st.sum", func(c simt.Counters) int64 { return c.GlobalStores.Sectors }},
		{"shared load wavefronts", wavefronts + "ld.sum", func(c simt.Counters) int64 { return c.SharedLoads.Wavefronts }},
		{"shared load conflicts", conflicts + "ld.sum", func(c simt.Counters) int64 { return c.SharedLoads.Conflicts() }},
		{"shared store wavefronts", wavefronts + "st.sum", func(c simt.Counters) int64 { return c.SharedStores.Wavefronts }},
		{"shared store conflicts", conflicts + "st.sum", func(c simt.Counters) int64 { return c.SharedStores.Conflicts() }},
	}
}
