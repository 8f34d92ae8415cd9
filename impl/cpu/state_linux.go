package cpu

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// readLoad returns the one-minute load average per core.
func readLoad() *float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return nil
	}
	return parseLoad(string(text), runtime.NumCPU())
}

func parseLoad(text string, cores int) *float64 {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return nil
	}
	v /= float64(cores)
	return &v
}

// readProcessorTimes reads the first line of /proc/stat.
func readProcessorTimes() (processorTimes, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processorTimes{}, false
	}
	return parseProcessorTimes(string(text))
}

// parseProcessorTimes reads "cpu user nice system idle iowait irq softirq steal
// guest guest_nice"; user and nice already hold the guest times (proc(5)).
func parseProcessorTimes(text string) (processorTimes, bool) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return processorTimes{}, false
	}
	var t processorTimes
	for i, f := range fields[1:9] {
		v, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return processorTimes{}, false
		}
		t.total += v
		if i == 7 {
			t.stolen = v
		}
	}
	return t, true
}
