package cuda

import "mage/gpu"

// State reads clocks, temperature, power and company through NVML; without NVML
// it returns an *unavailable.Error.
func (d *Device) State() (gpu.State, error) {
	if d.closed {
		return gpu.State{}, ErrClosed
	}
	if d.nvmlErr != nil {
		return gpu.State{}, d.nvmlErr
	}
	return d.nvml.state()
}

// TraceKernels runs f under CUPTI and returns one record per kernel, in order of
// start; without CUPTI it returns an *unavailable.Error and does not run f. CUPTI
// is loaded by the first call, so that a device that is never traced runs without
// it.
func (d *Device) TraceKernels(f func() error) ([]gpu.KernelRecord, error) {
	if d.dead != nil {
		return nil, d.dead
	}
	if d.cupti == nil && d.cuptiErr == nil {
		d.cupti, d.cuptiErr = openTracer()
	}
	if d.cuptiErr != nil {
		return nil, d.cuptiErr
	}
	return d.cupti.trace(d.Synchronize, f)
}

// ProfilerStart and ProfilerStop bracket what an external profiler shall collect.
func (d *Device) ProfilerStart() error {
	return d.profiler("cuProfilerStart", d.api.cuProfilerStart)
}

// ProfilerStop ends what ProfilerStart began.
func (d *Device) ProfilerStop() error {
	return d.profiler("cuProfilerStop", d.api.cuProfilerStop)
}

func (d *Device) profiler(call string, f func() int32) error {
	if d.dead != nil {
		return d.dead
	}
	if err := d.api.require(profiling); err != nil {
		return err
	}
	return d.check(call, f())
}
