package history

import (
	"cmp"
	"context"
	"slices"
)

// Kernel is what one kernel of one session comes to. Times are µs.
type Kernel struct {
	Name  string  `json:"kernel_name"`
	Calls int     `json:"calls"`
	Total float64 `json:"total_us"`
	Mean  float64 `json:"mean_us"`
	Min   float64 `json:"min_us"`
	Max   float64 `json:"max_us"`
	Share float64 `json:"share"` // of the session's total, a fraction; 0 when that is 0
	// What all launches have in common; nil where they differ or did not say.
	Grid        *Dim3  `json:"grid_size,omitempty"`
	Block       *Dim3  `json:"block_size,omitempty"`
	Registers   *int64 `json:"registers_per_thread,omitempty"`
	SharedBytes *int64 `json:"shared_mem_bytes,omitempty"`
	// Counters are those that the instrument reported.
	Counters []Counter `json:"counters,omitempty"`
}

// Counter is the mean of one counter over the launches that reported it.
type Counter struct {
	Name  string  `json:"name"` // the column
	Mean  float64 `json:"mean"`
	Calls int     `json:"calls"`
}

// Kernels groups a session's metrics by kernel, the largest total first, then by
// name. It is an error (*NoSessionError) when there is no such session.
func (d *DB) Kernels(ctx context.Context, session int64) ([]Kernel, error) {
	if _, err := d.Session(ctx, session); err != nil {
		return nil, err
	}
	metrics, err := d.Metrics(ctx, session)
	if err != nil {
		return nil, err
	}
	return group(metrics), nil
}

func group(metrics []Metric) []Kernel {
	byName := map[string][]*Metric{}
	total := 0.0
	for i := range metrics {
		m := &metrics[i]
		byName[m.Kernel] = append(byName[m.Kernel], m)
		total += m.DurationUS
	}
	out := make([]Kernel, 0, len(byName))
	for name, launches := range byName {
		k := Kernel{Name: name, Calls: len(launches), Min: launches[0].DurationUS, Max: launches[0].DurationUS,
			Grid:        common(launches, func(m *Metric) *Dim3 { return m.Grid }),
			Block:       common(launches, func(m *Metric) *Dim3 { return m.Block }),
			Registers:   common(launches, func(m *Metric) *int64 { return m.Registers }),
			SharedBytes: common(launches, func(m *Metric) *int64 { return m.SharedBytes }),
			Counters:    counters(launches)}
		for _, m := range launches {
			k.Total += m.DurationUS
			k.Min, k.Max = min(k.Min, m.DurationUS), max(k.Max, m.DurationUS)
		}
		k.Mean = k.Total / float64(k.Calls)
		if total > 0 {
			k.Share = k.Total / total
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// common returns the value that every launch has, else nil.
func common[T comparable](launches []*Metric, value func(*Metric) *T) *T {
	first := value(launches[0])
	for _, m := range launches {
		v := value(m)
		if v == nil || first == nil || *v != *first {
			return nil
		}
	}
	return first
}

func counters(launches []*Metric) (out []Counter) {
	whole := func(v *int64) *float64 {
		if v == nil {
			return nil
		}
		f := float64(*v)
		return &f
	}
	for _, c := range []struct {
		name  string
		value func(*Metric) *float64
	}{
		{"occupancy", func(m *Metric) *float64 { return m.Occupancy }},
		{"memory_throughput_gbps", func(m *Metric) *float64 { return m.MemoryGBps }},
		{"compute_throughput_pct", func(m *Metric) *float64 { return m.ComputePct }},
		{"l1_hit_rate", func(m *Metric) *float64 { return m.L1HitRate }},
		{"l2_hit_rate", func(m *Metric) *float64 { return m.L2HitRate }},
		{"dram_read_bytes", func(m *Metric) *float64 { return whole(m.DRAMReadBytes) }},
		{"dram_write_bytes", func(m *Metric) *float64 { return whole(m.DRAMWriteBytes) }},
	} {
		sum, n := 0.0, 0
		for _, m := range launches {
			if v := c.value(m); v != nil {
				sum += *v
				n++
			}
		}
		if n > 0 {
			out = append(out, Counter{c.name, sum / float64(n), n})
		}
	}
	return out
}
