package timing

import "fmt"

// Calibrate measures the overhead and the step of device events and the host
// clock, and proves the flush: a copy inside the L2 is timed hot, and again
// after a flush, when it must be slower.
func (d *Device) Calibrate() (Calibration, error) {
	c := Calibration{FlushBytes: d.flushBytes}
	c.ClockOverheadUS, c.ClockResolutionUS = clockLimits(d.clock)
	const pairs = 200
	for i := range pairs + 20 {
		if err := d.stream.Synchronize(); err != nil {
			return c, err
		}
		us, err := d.between(func() error { return nil })
		if err != nil {
			return c, fmt.Errorf("empty event pair: %w", err)
		}
		if i >= 20 { // the first ones wake the device
			c.EventOverheadSamples = append(c.EventOverheadSamples, us)
		}
	}
	overhead := median(c.EventOverheadSamples)
	c.EventOverheadUS = &overhead
	if step, ok := smallestStep(c.EventOverheadSamples); ok {
		c.EventResolutionUS = &step
	}

	// Half of the L2 for source and destination together stays resident, and is
	// enough for the memory's time to stand out from the cost of a copy.
	bytes := d.flushBytes / 8
	src, err := d.dev.Alloc(bytes)
	if err != nil {
		return c, fmt.Errorf("flush proof: %w", err)
	}
	defer d.dev.Free(src)
	dst, err := d.dev.Alloc(bytes)
	if err != nil {
		return c, fmt.Errorf("flush proof: %w", err)
	}
	defer d.dev.Free(dst)
	copied := func(cache Cache) (float64, error) {
		if err := d.settle(cache); err != nil {
			return 0, err
		}
		return d.between(func() error { return d.stream.CopyAsync(dst, src, bytes) })
	}
	var hot, cold []float64
	for range proofRepeats {
		for _, step := range []struct {
			cache Cache
			into  *[]float64
		}{{Hot, nil}, {Hot, &hot}, {Cold, &cold}} {
			us, err := copied(step.cache)
			if err != nil {
				return c, fmt.Errorf("flush proof: %w", err)
			}
			if step.into != nil {
				*step.into = append(*step.into, us)
			}
		}
	}
	c.setProof(bytes, hot, cold)
	return c, nil
}

// smallestStep is the least difference between two distinct values: an upper
// bound of the timer's resolution.
func smallestStep(v []float64) (float64, bool) {
	step, found := 0.0, false
	for i := range v {
		for j := range i {
			if d := abs(v[i] - v[j]); d > 1e-6 && (!found || d < step) {
				step, found = d, true
			}
		}
	}
	return step, found
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}
