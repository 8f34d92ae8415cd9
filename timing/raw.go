package timing

// RawCalibration is what another process read from its own instruments, in
// microseconds.
type RawCalibration struct {
	EventUS    []float64 // empty event pairs
	ClockUS    []float64 // successive readings of the host clock
	FlushBytes int64
	ReadBytes  int64 // of the block that was read hot and, in pairs, flushed
	HotUS      []float64
	ColdUS     []float64
}

// CalibrationFrom judges raw readings as this package judges its own.
func CalibrationFrom(r RawCalibration) Calibration {
	c := Calibration{FlushBytes: r.FlushBytes, EventOverheadSamples: r.EventUS, ClockOverheadUS: median(r.ClockUS)}
	for _, d := range r.ClockUS {
		if d > 0 && (c.ClockResolutionUS == 0 || d < c.ClockResolutionUS) {
			c.ClockResolutionUS = d
		}
	}
	if len(r.EventUS) > 0 {
		overhead := median(r.EventUS)
		c.EventOverheadUS = &overhead
	}
	if step, ok := smallestStep(r.EventUS); ok {
		c.EventResolutionUS = &step
	}
	pairs := min(len(r.HotUS), len(r.ColdUS)) // a process that broke off has read one hot
	c.setProof(r.ReadBytes, r.HotUS[:pairs], r.ColdUS[:pairs])
	return c
}
