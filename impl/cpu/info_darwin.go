package cpu

import "golang.org/x/sys/unix"

func modelName() string {
	s, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return s
}

func memoryBytes() int64 { return sysctl("hw.memsize") }

// maxClockMHz is hw.cpufrequency_max, which Apple silicon lacks.
func maxClockMHz() float64 { return float64(sysctl("hw.cpufrequency_max")) / 1e6 }

// LastLevelCache returns the bytes of the largest cache, 0 if unknown.
func LastLevelCache() int64 { return max(sysctl("hw.l3cachesize"), sysctl("hw.l2cachesize")) }

func sysctl(name string) int64 {
	v, err := unix.SysctlUint64(name)
	if err != nil {
		return 0
	}
	return int64(v)
}
