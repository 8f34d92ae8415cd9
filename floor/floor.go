package floor

import "mage/gpu"

// Bound says which resource sets a floor.
type Bound string

// The resources. None means that no peak rate of the device is known.
const (
	None      Bound = ""
	Compute   Bound = "compute"
	Bandwidth Bound = "bandwidth"
)

// Work is what one operation must do at least.
type Work struct {
	FLOPs float64 // the mathematics' own operations; an FMA counts as two
	Bytes int64   // each input read once and the output written once
	// Written are those of Bytes that are the output's.
	Written int64
	// FP32 says that the mathematics is strict single precision, the only one
	// whose peak rate gpu.Info gives; otherwise only the bandwidth bounds it.
	FP32 bool
}

// Floor is the least time of one operation.
type Floor struct {
	US      float64 // microseconds; 0 without a known peak
	Bound   Bound
	Compute float64 // microseconds of arithmetic at the peak rate, 0 if unknown
	Memory  float64 // microseconds of compulsory traffic at the peak bandwidth, 0 if unknown
}

// Of returns the roofline time of w on d (Williams, Waterman, Patterson 2009):
// the larger of FLOPs ÷ peak rate and memory traffic ÷ peak bandwidth. With a
// hot cache as many compulsory bytes as the last-level cache holds may never
// reach memory, so only the rest counts. With a cold one every input does, but
// what the cache holds of the output may be written back when the clock has
// stopped. An unknown peak (0) gives no bound, and a cache of unknown size may
// hold everything. The peaks are upper bounds, so the floor is a lower one.
func Of(w Work, d gpu.Info, cold bool) Floor {
	var f Floor
	if w.FP32 && d.PeakFP32 > 0 {
		f.Compute = w.FLOPs / d.PeakFP32 * 1e6
	}
	if d.PeakBandwidth > 0 {
		stays := w.Bytes // may stay in the cache
		if cold {
			stays = w.Written
		}
		if d.L2Bytes > 0 {
			stays = min(stays, d.L2Bytes)
		}
		f.Memory = float64(w.Bytes-stays) / d.PeakBandwidth * 1e6
	}
	switch {
	case f.Compute > 0 && f.Compute >= f.Memory:
		f.US, f.Bound = f.Compute, Compute
	case f.Memory > 0:
		f.US, f.Bound = f.Memory, Bandwidth
	}
	return f
}
