package explain

import "mage/gpu/simt"

// Metric is one row of the comparison.
type Metric struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// Format says how to write the value: "count", "percent", "number", "bytes".
	Format string   `json:"format"`
	A      float64  `json:"a"`
	B      *float64 `json:"b,omitempty"`
	// Ratio is B over A; nil without B, and where A is 0.
	Ratio *float64 `json:"ratio,omitempty"`
}

// metric computes a row. One that is not relevant (0 for every arm) is left out.
type metric struct {
	group, name, format string
	of                  func(c *simt.Counters) float64
}

func metrics() []metric {
	count := func(group, name string, of func(c *simt.Counters) int64) metric {
		return metric{group, name, "count", func(c *simt.Counters) float64 { return float64(of(c)) }}
	}
	share := func(group, name string, of func(c *simt.Counters) (part, whole int64)) metric {
		return metric{group, name, "percent", func(c *simt.Counters) float64 { return ratio(of(c)) }}
	}
	number := func(group, name string, of func(c *simt.Counters) (over, under int64)) metric {
		return metric{group, name, "number", func(c *simt.Counters) float64 { return ratio(of(c)) }}
	}
	bytes := func(group, name string, of func(c *simt.Counters) int64) metric {
		return metric{group, name, "bytes", func(c *simt.Counters) float64 { return float64(of(c)) }}
	}
	const work, loads, stores, shared, rest = "work", "global loads", "global stores", "shared memory", "the rest"
	return []metric{
		count(work, "warp instructions", func(c *simt.Counters) int64 { return c.Instructions.Total() }),
		share(work, "active lanes", func(c *simt.Counters) (int64, int64) { return c.Lanes, 32 * c.Instructions.Total() }),
		count(work, "floating-point operations", func(c *simt.Counters) int64 { return c.FLOPs() }),
		number(work, "lane instructions per operation", func(c *simt.Counters) (int64, int64) { return c.Lanes, c.FLOPs() }),
		number(work, "operations per byte touched", func(c *simt.Counters) (int64, int64) { return c.FLOPs(), c.BytesTouched() }),

		count(loads, "requests", func(c *simt.Counters) int64 { return loadsOf(c).Requests }),
		count(loads, "sectors of 32 bytes", func(c *simt.Counters) int64 { return loadsOf(c).Sectors }),
		number(loads, "sectors per request", func(c *simt.Counters) (int64, int64) {
			return loadsOf(c).Sectors, loadsOf(c).Requests
		}),
		share(loads, "sectors needed", func(c *simt.Counters) (int64, int64) {
			return loadsOf(c).Ideal, loadsOf(c).Sectors
		}),
		bytes(loads, "distinct bytes read", func(c *simt.Counters) int64 { return c.BytesRead }),

		count(stores, "requests", func(c *simt.Counters) int64 { return c.GlobalStores.Requests }),
		count(stores, "sectors of 32 bytes", func(c *simt.Counters) int64 { return c.GlobalStores.Sectors }),
		share(stores, "sectors needed", func(c *simt.Counters) (int64, int64) { return c.GlobalStores.Ideal, c.GlobalStores.Sectors }),
		bytes(stores, "distinct bytes written", func(c *simt.Counters) int64 { return c.BytesWritten }),

		count(shared, "loads", func(c *simt.Counters) int64 { return c.SharedLoads.Requests }),
		count(shared, "wavefronts of loads", func(c *simt.Counters) int64 { return c.SharedLoads.Wavefronts }),
		count(shared, "bank conflicts of loads", func(c *simt.Counters) int64 { return c.SharedLoads.Conflicts() }),
		count(shared, "stores", func(c *simt.Counters) int64 { return c.SharedStores.Requests }),
		count(shared, "wavefronts of stores", func(c *simt.Counters) int64 { return c.SharedStores.Wavefronts }),
		count(shared, "bank conflicts of stores", func(c *simt.Counters) int64 { return c.SharedStores.Conflicts() }),

		count(rest, "atomics on global memory", func(c *simt.Counters) int64 { return c.GlobalAtomics }),
		count(rest, "atomics on shared memory", func(c *simt.Counters) int64 { return c.SharedAtomics }),
		count(rest, "local memory accesses", func(c *simt.Counters) int64 { return c.LocalLoads.Requests + c.LocalStores.Requests }),
		count(rest, "barriers, of a warp each", func(c *simt.Counters) int64 { return c.Barriers }),
		count(rest, "divergent branches", func(c *simt.Counters) int64 { return c.Divergent }),
		count(rest, "kernel launches", func(c *simt.Counters) int64 { return c.Launches }),
		count(rest, "threads", func(c *simt.Counters) int64 { return c.Threads }),
	}
}

// ratio is part over whole, 0 when there is no whole.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Metrics returns the rows that are not zero for every arm.
func (e *Explanation) Metrics() []Metric {
	var all []Metric
	for _, m := range metrics() {
		row := Metric{Group: m.group, Name: m.name, Format: m.format, A: m.of(&e.A.Counters)}
		if e.B != nil {
			b := m.of(&e.B.Counters)
			row.B = &b
			if row.A != 0 {
				r := b / row.A
				row.Ratio = &r
			}
		}
		if row.A != 0 || row.B != nil && *row.B != 0 {
			all = append(all, row)
		}
	}
	return all
}
