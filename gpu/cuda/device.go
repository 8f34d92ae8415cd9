package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"mage/gpu"
	"mage/unavailable"
)

// Device is one GPU with its primary context retained and current on the thread
// of the goroutine that opened it. Devices opened by one goroutine must be closed
// in reverse order. A device that is dropped without Close leaks its context.
type Device struct {
	api      *driver
	ordinal  int32
	context  uintptr
	previous uintptr // context to make current again at Close
	info     gpu.Info

	nvml     *nvmlDevice
	nvmlErr  error
	cupti    *tracer
	cuptiErr error

	// dead is what every call returns once the context is lost or closed.
	dead   error
	closed bool

	// What is alive, for Close.
	memory  map[gpu.Ptr]int64
	modules map[*module]struct{}
	streams map[*stream]struct{}
	events  map[*event]struct{}
	graphs  map[*graph]struct{}
}

var _ gpu.Device = (*Device)(nil)

// Open opens the GPU with the given ordinal and locks the calling goroutine to
// its thread until Close. It returns an *unavailable.Error without a driver or
// without that GPU, and with a driver that lacks a function that every use needs.
// In a process where a kernel has faulted it returns that sticky *DriverError.
func (o Options) Open(ordinal int) (*Device, error) {
	runtime.LockOSThread()
	d, err := o.open(ordinal)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return d, nil
}

func (o Options) open(ordinal int) (*Device, error) {
	api, err := o.start()
	if err != nil {
		return nil, err
	}
	n, err := api.count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, unavailable.New(fmt.Sprintf("GPU %d", ordinal),
			fmt.Sprintf("the driver reports %d, numbered from 0", n), "choose one of those")
	}
	d := &Device{
		api:     api,
		memory:  map[gpu.Ptr]int64{},
		modules: map[*module]struct{}{},
		streams: map[*stream]struct{}{},
		events:  map[*event]struct{}{},
		graphs:  map[*graph]struct{}{},
	}
	if code := api.cuDeviceGet(&d.ordinal, int32(ordinal)); code != 0 {
		return nil, api.unusable("cuDeviceGet", code)
	}
	if code := api.cuCtxGetCurrent(&d.previous); code != 0 {
		return nil, api.unusable("cuCtxGetCurrent", code)
	}
	if code := api.cuDevicePrimaryCtxRetain(&d.context, d.ordinal); code != 0 {
		return nil, api.unusable("cuDevicePrimaryCtxRetain", code)
	}
	if code := api.cuCtxSetCurrent(d.context); code != 0 {
		api.cuDevicePrimaryCtxRelease(d.ordinal)
		return nil, api.unusable("cuCtxSetCurrent", code)
	}
	if err := d.describe(); err != nil {
		return nil, errors.Join(fmt.Errorf("describe GPU %d: %w", ordinal, err), d.release())
	}
	return d, nil
}

// Close frees everything made from the device, releases its context and unlocks
// the goroutine from its thread. After a sticky error it also resets the primary
// context, since nothing else gives its memory back. It returns what could not be
// freed, and an error of earlier work that no call has reported yet.
func (d *Device) Close() error {
	if d.closed {
		return nil
	}
	reported := d.dead
	var errs []error
	if reported == nil {
		errs = append(errs, d.Synchronize())
	}
	for g := range d.graphs {
		errs = append(errs, g.destroy())
	}
	for e := range d.events {
		errs = append(errs, e.destroy())
	}
	for s := range d.streams {
		errs = append(errs, s.destroy())
	}
	for m := range d.modules {
		errs = append(errs, m.unload())
	}
	for p := range d.memory {
		errs = append(errs, d.free(p))
	}
	lost := d.dead != nil
	if lost {
		// Each of the above was attempted; on a lost context each fails alike, and
		// the first error says it all.
		errs = nil
		if reported == nil {
			errs = append(errs, d.dead)
		}
		if d.api.cuDevicePrimaryCtxReset != nil {
			d.api.cuDevicePrimaryCtxReset(d.ordinal)
		}
	}
	if err := d.release(); err != nil && !lost {
		errs = append(errs, err)
	}
	d.closed = true
	d.dead = ErrClosed
	runtime.UnlockOSThread()
	return errors.Join(errs...)
}

// release gives the context and the helper libraries back.
func (d *Device) release() error {
	if d.cupti != nil {
		d.cupti.close()
	}
	if d.nvml != nil {
		d.nvml.close()
	}
	var errs []error
	if code := d.api.cuCtxSetCurrent(d.previous); code != 0 {
		errs = append(errs, d.api.newError("cuCtxSetCurrent", code))
	}
	if code := d.api.cuDevicePrimaryCtxRelease(d.ordinal); code != 0 {
		errs = append(errs, d.api.newError("cuDevicePrimaryCtxRelease", code))
	}
	return errors.Join(errs...)
}

// Info describes the device.
func (d *Device) Info() gpu.Info { return d.info }

// Synchronize waits for all work on the device.
func (d *Device) Synchronize() error {
	if d.dead != nil {
		return d.dead
	}
	return d.check("cuCtxSynchronize", d.api.cuCtxSynchronize())
}

// Live counts what was made from the device and not destroyed yet.
type Live struct {
	Allocations, Modules, Streams, Events, Graphs int
	Bytes                                         int64
}

// Live returns the device's leak accounting.
func (d *Device) Live() Live {
	l := Live{Allocations: len(d.memory), Modules: len(d.modules), Streams: len(d.streams),
		Events: len(d.events), Graphs: len(d.graphs)}
	for _, n := range d.memory {
		l.Bytes += n
	}
	return l
}
