package cpu

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// modelName is the first "model name" of /proc/cpuinfo, which arm64 lacks.
func modelName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return field(string(text), "model name")
}

// memoryBytes is MemTotal of /proc/meminfo, given in KiB.
func memoryBytes() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(field(string(text), "MemTotal"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// field returns the value of the first "name : value" line.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// maxClockMHz is the highest clock of any core, from cpufreq (kHz).
func maxClockMHz() float64 {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq")
	highest := 0.0
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			if khz, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
				highest = max(highest, khz/1000)
			}
		}
	}
	return highest
}

// LastLevelCache returns the bytes of the largest cache of the first core, 0 if
// unknown.
func LastLevelCache() int64 { return largestCache("/sys/devices/system/cpu/cpu0/cache") }

func largestCache(dir string) int64 {
	files, _ := filepath.Glob(filepath.Join(dir, "index*", "size"))
	var largest int64
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			largest = max(largest, parseSize(strings.TrimSpace(string(text))))
		}
	}
	return largest
}

// parseSize reads "32K", "36M" or plain bytes; 0 for anything else.
func parseSize(s string) int64 {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	case strings.HasSuffix(s, "G"):
		shift = 30
	}
	n, err := strconv.ParseInt(strings.TrimRight(s, "KMG"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n << shift
}
