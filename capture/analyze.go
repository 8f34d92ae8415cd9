package capture

import (
	"math"

	"mage/roofline"
)

// The counters of Nsight Compute that an analysis needs.
const (
	Duration  = "gpu__time_duration.sum"
	dramRead  = "dram__bytes_read.sum"
	dramWrite = "dram__bytes_write.sum"
	dramBusy  = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
	l2Busy    = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
	smBusy    = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
	occupancy = "sm__warps_active.avg.pct_of_peak_sustained_active"
	l1Hits    = "l1tex__t_sector_hit_rate.pct"
	l2Hits    = "lts__t_sector_hit_rate.pct"
)

// AnalysisMetrics are the counters that Analyze and package roofline read.
func AnalysisMetrics() []string {
	out := []string{dramBusy, l2Busy, smBusy, occupancy, l1Hits, l2Hits}
	for _, name := range roofline.Counters() {
		if name != Duration { // is always asked for
			out = append(out, name)
		}
	}
	return out
}

// Analysis is what the counters of one launch, or of launches alike, say. A nil
// pointer was not measured.
type Analysis struct {
	Bytes     *float64 `json:"bytes,omitempty"`          // DRAM, read and written
	FLOPs     *float64 `json:"flops,omitempty"`          // of CUDA and tensor cores
	Bandwidth *float64 `json:"bytes_per_s,omitempty"`    // Bytes over the time
	Rate      *float64 `json:"flops_per_s,omitempty"`    // FLOPs over the time
	Intensity *float64 `json:"flops_per_byte,omitempty"` // FLOPs over Bytes
	DRAMBusy  *float64 `json:"dram_busy,omitempty"`      // fraction of the peak
	L2Busy    *float64 `json:"l2_busy,omitempty"`        // fraction of the peak
	SMBusy    *float64 `json:"sm_busy,omitempty"`        // fraction of the peak
	Occupancy *float64 `json:"occupancy,omitempty"`      // fraction of the warps
	L1HitRate *float64 `json:"l1_hit_rate,omitempty"`    // fraction of the sectors
	L2HitRate *float64 `json:"l2_hit_rate,omitempty"`    // fraction of the sectors
	// Tensor says whether tensor cores worked. Where that, or how much, is not known,
	// neither are FLOPs.
	Tensor *bool `json:"tensor_cores,omitempty"`
	// Bottleneck is "memory", "l2", "compute", "latency", "balanced", or "unknown".
	Bottleneck string `json:"bottleneck"`
}

// Busy and idle units, after the guided analysis of Nsight Compute: a unit above
// 80 % of its peak limits the kernel, and a kernel that leaves all below 60 % waits.
const (
	limiting = 0.80
	waiting  = 0.60
)

// Analyze derives an analysis from the launches of a group. A value is there only
// if every launch has it: a part of them says nothing about all.
func Analyze(launches []*Kernel) Analysis {
	var a Analysis
	seconds := sum(launches, func(k *Kernel) (float64, bool) {
		us, ok := duration(k)
		return us * 1e-6, ok
	})
	a.Bytes = add(total(launches, dramRead, "B"), total(launches, dramWrite, "B"))
	get, names := counted(launches)
	a.FLOPs, a.Tensor = roofline.FromCounters(get, names).FLOPs(), roofline.TensorCores(get, names)
	a.Bandwidth, a.Rate, a.Intensity = quotient(a.Bytes, seconds), quotient(a.FLOPs, seconds), quotient(a.FLOPs, a.Bytes)
	a.DRAMBusy, a.L2Busy, a.SMBusy = share(launches, dramBusy), share(launches, l2Busy), share(launches, smBusy)
	a.Occupancy, a.L1HitRate, a.L2HitRate = share(launches, occupancy), share(launches, l1Hits), share(launches, l2Hits)
	a.Bottleneck = a.bottleneck()
	return a
}

// bottleneck names the unit that limits, from what was measured only.
func (a *Analysis) bottleneck() string {
	if a.DRAMBusy == nil || a.SMBusy == nil {
		return "unknown"
	}
	memory, name := *a.DRAMBusy, "memory"
	if a.L2Busy != nil && *a.L2Busy > memory {
		memory, name = *a.L2Busy, "l2"
	}
	compute := *a.SMBusy
	switch {
	case memory >= limiting && compute >= limiting:
		return "balanced"
	case memory >= waiting && memory > compute:
		return name
	case compute >= waiting:
		return "compute"
	}
	return "latency"
}

// sum adds a reading over the launches; nil unless each has it.
func sum(launches []*Kernel, of func(*Kernel) (float64, bool)) *float64 {
	if len(launches) == 0 {
		return nil
	}
	s := 0.0
	for _, k := range launches {
		v, ok := of(k)
		if !ok {
			return nil
		}
		s += v
	}
	return &s
}

func total(launches []*Kernel, counter string, units ...string) *float64 {
	return sum(launches, func(k *Kernel) (float64, bool) {
		c, ok := k.Counters[counter]
		for _, u := range units {
			if ok && c.Unit == u {
				return c.Value, true
			}
		}
		return 0, false
	})
}

// share is a percentage as a fraction, weighted by the time of each launch.
func share(launches []*Kernel, counter string) *float64 {
	time := sum(launches, duration)
	weighted := sum(launches, func(k *Kernel) (float64, bool) {
		c, ok := k.Counters[counter]
		if !ok || c.Unit != "%" || k.DurationUS == nil {
			return 0, false
		}
		return c.Value / 100 * *k.DurationUS, true
	})
	return quotient(weighted, time)
}

func add(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	s := *a + *b
	return &s
}

func quotient(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	q := *a / *b
	if math.IsInf(q, 0) {
		return nil
	}
	return &q
}
