package cpu

import (
	"runtime"

	"golang.org/x/sys/cpu"

	"mage/gpu"
)

// Info describes the processor in the terms of a device. What the operating
// system does not tell is zero, which means unknown: PeakBandwidth always is.
//
// Multiprocessors counts hardware threads. PeakFP32 is an upper bound, not a
// promise: every hardware thread as if it were a core, at its highest clock, two
// fused multiply-adds of the widest vectors each cycle. MaxSMClockMHz is that
// clock; both are unknown on most virtual machines, which hide it.
func Info() gpu.Info {
	cores := runtime.NumCPU()
	info := gpu.Info{
		Backend:         "cpu",
		Name:            modelName(),
		Multiprocessors: cores,
		L2Bytes:         LastLevelCache(),
		MemoryBytes:     memoryBytes(),
		MaxSMClockMHz:   maxClockMHz(),
	}
	if info.Name == "" {
		info.Name = runtime.GOARCH
	}
	info.PeakFP32 = float64(cores) * flopsPerCycle() * info.MaxSMClockMHz * 1e6
	return info
}

// flopsPerCycle counts a multiply-add as two. On arm64 it is four 128-bit units,
// as in the widest cores sold.
func flopsPerCycle() float64 {
	const units, fma = 2, 2
	switch {
	case runtime.GOARCH == "arm64":
		return 4 * 4 * fma
	case cpu.X86.HasAVX512F:
		return units * 16 * fma
	case cpu.X86.HasAVX || cpu.X86.HasAVX2:
		return units * 8 * fma
	}
	return units * 4 * fma
}
