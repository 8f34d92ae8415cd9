package ceiling

import "fmt"

// Text writes a value of the unit with four digits: "4.171 TB/s", "5.120 µs".
func (u Unit) Text(x float64) string {
	if u == Microseconds {
		return fmt.Sprintf("%#.4g µs", x)
	}
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	for len(prefixes) > 1 && x >= 999.95 {
		x, prefixes = x/1000, prefixes[1:]
	}
	return fmt.Sprintf("%#.4g %s%s", x, prefixes[0], u)
}

// Nominal returns the peak that the device's own attributes promise for a ceiling,
// 0 if they do not. It is an upper bound: no clock is higher, and nothing is lost to
// refresh or turning the bus around.
func (f *File) Nominal(name string) float64 {
	switch name {
	case "dram-read", "dram-write", "dram-copy", "dram-triad":
		return f.Device.PeakBandwidth
	case "fp32-fma":
		return f.Device.PeakFP32
	case "shared-read":
		return float64(f.Device.Multiprocessors) * sharedPerCycle * f.Device.MaxSMClockMHz * 1e6
	}
	return 0
}

// sharedPerCycle is what a multiprocessor reads of its shared memory in a cycle: 32
// banks of four bytes, from compute capability 5.0 on (CUDA C++ Programming Guide,
// "Compute Capabilities").
const sharedPerCycle = 32 * 4
