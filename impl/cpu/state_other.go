//go:build !linux

package cpu

func readLoad() *float64                         { return nil }
func readProcessorTimes() (processorTimes, bool) { return processorTimes{}, false }
