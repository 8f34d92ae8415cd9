package python

import "mage/timing"

// Calibrate measures what the worker's own instruments resolve, and proves that
// its cache flush flushes.
func (w *Worker) Calibrate() (timing.Calibration, error) {
	var a struct {
		EventUS    []float64 `json:"event_us"`
		ClockUS    []float64 `json:"clock_us"`
		FlushBytes int64     `json:"flush_bytes"`
		ReadBytes  int64     `json:"read_bytes"`
		HotUS      []float64 `json:"hot_us"`
		ColdUS     []float64 `json:"cold_us"`
	}
	if err := w.call(request{Do: "calibrate", Device: w.options.Device}, w.options.Deadline, "calibrating", &a); err != nil {
		return timing.Calibration{}, err
	}
	return timing.CalibrationFrom(timing.RawCalibration(a)), nil
}
