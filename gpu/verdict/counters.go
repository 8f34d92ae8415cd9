package verdict

import "encoding/json"

// Counters are what launches cost. They depend on program and data alone: the
// number of cores and the order of blocks change none of them, unless the
// kernel's own control flow depends on that order.
type Counters struct {
	Launches int64 `json:"launches"`
	Blocks   int64 `json:"blocks"`
	Warps    int64 `json:"warps"`
	Threads  int64 `json:"threads"`

	// Instructions are executed warp instructions by class, those whose lanes were
	// all predicated off included. Lanes counts the lanes of each whose predicate held:
	// of a branch, those that took it.
	Instructions ClassCounts `json:"warp_instructions"`
	Lanes        int64       `json:"lane_instructions"`
	Branches     int64       `json:"branches"` // that depend on a predicate
	Divergent    int64       `json:"divergent_branches"`

	GlobalLoads  Traffic `json:"global_loads"`
	GlobalStores Traffic `json:"global_stores"`
	AsyncCopies  Traffic `json:"async_copies"` // global side of cp.async
	SharedLoads  Banks   `json:"shared_loads"`
	SharedStores Banks   `json:"shared_stores"`
	LocalLoads   Traffic `json:"local_loads"` // sectors are not known: the layout is the hardware's
	LocalStores  Traffic `json:"local_stores"`

	GlobalAtomics     int64 `json:"global_atomics"` // requests
	SharedAtomics     int64 `json:"shared_atomics"`
	AtomicOperations  int64 `json:"atomic_operations"` // lanes
	Barriers          int64 `json:"barriers"`          // warps that arrived at one
	BytesRead         int64 `json:"bytes_read"`        // distinct bytes of global memory, per launch
	BytesWritten      int64 `json:"bytes_written"`
	FLOPs16           int64 `json:"flops_fp16"`
	FLOPs32           int64 `json:"flops_fp32"`
	FLOPs64           int64 `json:"flops_fp64"`
	FLOPsMatrix       int64 `json:"flops_matrix"`
	SpecialOperations int64 `json:"special_function_operations"` // included in FLOPs32 and FLOPs16
}

// Traffic counts requests to memory that sectors of 32 bytes serve.
type Traffic struct {
	Requests int64 `json:"requests"` // warp instructions with an active lane
	Sectors  int64 `json:"sectors"`  // distinct sectors per request, summed
	// Ideal is the least number of sectors that could have carried the bytes asked
	// for, never more than were needed.
	Ideal int64 `json:"ideal_sectors"`
	Bytes int64 `json:"bytes"` // asked for, summed over lanes
}

// Banks counts requests to shared memory.
type Banks struct {
	Requests   int64 `json:"requests"`
	Wavefronts int64 `json:"wavefronts"`
	Ideal      int64 `json:"ideal_wavefronts"` // without conflicts
	Bytes      int64 `json:"bytes"`
}

// Conflicts are the wavefronts that bank conflicts added.
func (b Banks) Conflicts() int64 { return b.Wavefronts - b.Ideal }

// ClassCounts counts by class.
type ClassCounts [Classes]int64

// MarshalJSON writes an object with the classes that occur.
func (c ClassCounts) MarshalJSON() ([]byte, error) {
	m := map[string]int64{}
	for i, n := range c {
		if n != 0 {
			m[Class(i).String()] = n
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *ClassCounts) UnmarshalJSON(b []byte) error {
	m := map[string]int64{}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	for i := range c {
		c[i] = m[Class(i).String()]
	}
	return nil
}

// Total is the sum over the classes.
func (c ClassCounts) Total() int64 {
	var n int64
	for _, v := range c {
		n += v
	}
	return n
}

// ActiveLanes is the mean share of a warp's 32 lanes that were active, 0 to 1.
func (c Counters) ActiveLanes() float64 {
	if n := c.Instructions.Total(); n > 0 {
		return float64(c.Lanes) / float64(32*n)
	}
	return 0
}

// FLOPs is the sum over precisions: additions, multiplications, divisions, roots
// and approximated functions count 1 each, a fused multiply-add 2.
func (c Counters) FLOPs() int64 { return c.FLOPs16 + c.FLOPs32 + c.FLOPs64 + c.FLOPsMatrix }

// BytesTouched is the distinct bytes read plus the distinct bytes written.
func (c Counters) BytesTouched() int64 { return c.BytesRead + c.BytesWritten }

// Intensity is FLOPs per byte touched, 0 without any.
func (c Counters) Intensity() float64 {
	if b := c.BytesTouched(); b > 0 {
		return float64(c.FLOPs()) / float64(b)
	}
	return 0
}

// Add adds the counts of d.
func (c *Counters) Add(d *Counters) {
	c.Launches += d.Launches
	c.Blocks += d.Blocks
	c.Warps += d.Warps
	c.Threads += d.Threads
	for i := range c.Instructions {
		c.Instructions[i] += d.Instructions[i]
	}
	c.Lanes += d.Lanes
	c.Branches += d.Branches
	c.Divergent += d.Divergent
	c.GlobalLoads.Add(d.GlobalLoads)
	c.GlobalStores.Add(d.GlobalStores)
	c.AsyncCopies.Add(d.AsyncCopies)
	c.SharedLoads.Add(d.SharedLoads)
	c.SharedStores.Add(d.SharedStores)
	c.LocalLoads.Add(d.LocalLoads)
	c.LocalStores.Add(d.LocalStores)
	c.GlobalAtomics += d.GlobalAtomics
	c.SharedAtomics += d.SharedAtomics
	c.AtomicOperations += d.AtomicOperations
	c.Barriers += d.Barriers
	c.BytesRead += d.BytesRead
	c.BytesWritten += d.BytesWritten
	c.FLOPs16 += d.FLOPs16
	c.FLOPs32 += d.FLOPs32
	c.FLOPs64 += d.FLOPs64
	c.FLOPsMatrix += d.FLOPsMatrix
	c.SpecialOperations += d.SpecialOperations
}

// Add adds u.
func (t *Traffic) Add(u Traffic) {
	t.Requests += u.Requests
	t.Sectors += u.Sectors
	t.Ideal += u.Ideal
	t.Bytes += u.Bytes
}

// Since is what was added to u to give t.
func (t Traffic) Since(u Traffic) Traffic {
	return Traffic{t.Requests - u.Requests, t.Sectors - u.Sectors, t.Ideal - u.Ideal, t.Bytes - u.Bytes}
}

// Add adds c.
func (b *Banks) Add(c Banks) {
	b.Requests += c.Requests
	b.Wavefronts += c.Wavefronts
	b.Ideal += c.Ideal
	b.Bytes += c.Bytes
}

// Since is what was added to c to give b.
func (b Banks) Since(c Banks) Banks {
	return Banks{b.Requests - c.Requests, b.Wavefronts - c.Wavefronts, b.Ideal - c.Ideal, b.Bytes - c.Bytes}
}
