package timing

import "mage/gpu"

// This file is the whole launch order of every GPU measurement, so that it can
// be read, and argued about, in one place. In each, the stream is idle at the
// start: what a sample contains does not depend on what came before it.

// span: record, submit, record. The device waits for the host between the two
// events, so a span contains the launch path as well as the kernel.
func (d *Device) spanOnce(submit func() error) (float64, error) {
	return d.between(submit)
}

// batch: record, N submits, record. The host runs ahead of the device when
// submitting is cheaper than executing; otherwise this is the submit rate.
func (d *Device) batchOnce(submit func() error, n int) (float64, error) {
	us, err := d.between(func() error {
		for range n {
			if err := submit(); err != nil {
				return err
			}
		}
		return nil
	})
	return us / float64(n), err
}

// graph: record, replay, record, wait. Returns device time per operation and
// the host time of the whole replay.
func (d *Device) graphOnce(g gpu.Graph, n int) (us, replayUS float64, err error) {
	t0 := d.clock.now()
	us, err = d.between(func() error { return d.stream.Replay(g) })
	return us / float64(n), microseconds(d.clock.now() - t0), err
}

// submit: host time of the submission alone, the device drained afterwards.
func (d *Device) submitOnce(submit func() error) (float64, error) {
	t0 := d.clock.now()
	err := submit()
	us := microseconds(d.clock.now() - t0)
	if err != nil {
		return 0, err
	}
	return us, d.stream.Synchronize()
}

// latency: host time from submission to completion.
func (d *Device) latencyOnce(submit func() error) (float64, error) {
	t0 := d.clock.now()
	if err := submit(); err != nil {
		return 0, err
	}
	err := d.stream.Synchronize()
	return microseconds(d.clock.now() - t0), err
}

// between is the device time of what f submits, between two events.
func (d *Device) between(f func() error) (float64, error) {
	if err := d.stream.Record(d.start); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := d.stream.Record(d.end); err != nil {
		return 0, err
	}
	if err := d.end.Synchronize(); err != nil {
		return 0, err
	}
	return d.end.MicrosecondsSince(d.start)
}

// settle leaves the stream idle, with the cache flushed when the state is cold.
func (d *Device) settle(cache Cache) error {
	if cache == Cold {
		d.flushValue++
		if err := d.stream.FillAsync(d.flush, d.flushValue, d.flushBytes); err != nil {
			return err
		}
	}
	return d.stream.Synchronize()
}
