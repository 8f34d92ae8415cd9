package capture

import (
	"fmt"

	"mage/evidence"
)

// PerOperation says what one of n operations alike did: its launches in order, the
// sum of their times, its copies and allocations. Whether all were alike is
// checked; where they were not, the sequence is missing and Note says why.
func (c *Capture) PerOperation(r *Result, n int) evidence.Capture {
	out := evidence.Capture{Backend: c.Backend, Captured: c.Started, Versions: c.Versions, Device: c.Device, DeviceUUID: c.UUID,
		Outcome: string(c.Outcome), Reason: c.Reason, Operations: n}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, evidence.CapturedFinding{Kind: f.Kind, Kernel: f.Kernel, Source: f.Source, Count: f.Count})
	}
	if n < 1 || len(r.Kernels) == 0 {
		return out
	}
	if out.Note = alike(r.Kernels, n); out.Note == "" {
		out.Launches = sequence(r.Kernels, n)
	}
	if us := sum(pointers(r.Kernels), duration); us != nil {
		mean := *us / float64(n)
		out.KernelUS = &mean
	}
	if len(r.Calls) == 0 {
		return out // a profiler that sees no calls sees no copies either
	}
	copied, allocated, allocations := 0.0, 0.0, 0.0
	for _, x := range r.Copies {
		copied += float64(x.Bytes)
	}
	for _, x := range r.Allocations {
		if x.Kind == "allocate" {
			allocations++
			allocated += float64(x.Bytes)
		}
	}
	per := func(v float64) *float64 { v /= float64(n); return &v }
	out.Copies, out.CopiedBytes = per(float64(len(r.Copies))), per(copied)
	if len(r.Allocations) > 0 {
		out.Allocations, out.AllocatedBytes = per(allocations), per(allocated)
	}
	return out
}

// alike says in what the operations differ, "" when they do not.
func alike(kernels []Kernel, n int) string {
	if len(kernels)%n != 0 {
		return fmt.Sprintf("%d launches of %d operations: they were not alike", len(kernels), n)
	}
	per := len(kernels) / n
	for i := range kernels {
		a, b := &kernels[i%per], &kernels[i]
		if a.Name != b.Name || a.Grid != b.Grid || a.Block != b.Block {
			return fmt.Sprintf("operation %d launched other kernels than the first", i/per+1)
		}
	}
	return ""
}

// sequence is the launches of the first operation with the mean times of all.
// Counters are those of the first: what another launch had is another reading.
func sequence(kernels []Kernel, n int) []evidence.Launch {
	per := len(kernels) / n
	out := make([]evidence.Launch, per)
	for i := range out {
		k := &kernels[i]
		l := evidence.Launch{Kernel: k.Name, Grid: k.Grid, Block: k.Block, Registers: k.Registers,
			StaticShared: k.StaticShared, DynamicShared: k.DynamicShared}
		var same []*Kernel
		for j := i; j < len(kernels); j += per {
			same = append(same, &kernels[j])
		}
		if us := sum(same, duration); us != nil {
			mean := *us / float64(n)
			l.MeanUS = &mean
		}
		for name, c := range k.Counters {
			if l.Counters == nil {
				l.Counters = map[string]evidence.Counter{}
			}
			l.Counters[name] = evidence.Counter(c)
		}
		out[i] = l
	}
	return out
}

func pointers(kernels []Kernel) []*Kernel {
	out := make([]*Kernel, len(kernels))
	for i := range kernels {
		out[i] = &kernels[i]
	}
	return out
}

func duration(k *Kernel) (float64, bool) {
	if k.DurationUS == nil {
		return 0, false
	}
	return *k.DurationUS, true
}
