package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"mage/gpu"
)

// event is a CUDA event with timing. args and elapsed are reused by its calls.
type event struct {
	device  *Device
	handle  uintptr
	args    [3]uintptr
	elapsed float32 // milliseconds
	gone    bool
}

// NewEvent makes an event that keeps the device time at which it completes.
func (d *Device) NewEvent() (gpu.Event, error) {
	if d.dead != nil {
		return nil, d.dead
	}
	e := &event{device: d}
	if err := d.check("cuEventCreate", d.api.cuEventCreate(&e.handle, 0)); err != nil {
		return nil, err
	}
	d.events[e] = struct{}{}
	return e, nil
}

func (e *event) usable() error {
	if e.device.dead != nil {
		return e.device.dead
	}
	if e.gone {
		return fmt.Errorf("event: %w", errForeign)
	}
	return nil
}

func (e *event) Synchronize() error {
	if err := e.usable(); err != nil {
		return err
	}
	e.args[0] = e.handle
	r, _, _ := purego.SyscallN(e.device.api.cuEventSynchronize, e.args[:1]...)
	return e.device.check("cuEventSynchronize", int32(r))
}

// MicrosecondsSince returns the device time from start to this event. The
// driver resolves it to about half a microsecond.
func (e *event) MicrosecondsSince(start gpu.Event) (float64, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	from, ok := start.(*event)
	if !ok || from.device != e.device || from.gone {
		return 0, fmt.Errorf("time since an event: %w", errForeign)
	}
	// e is on the heap, which does not move, and kept alive across the call.
	e.args = [3]uintptr{uintptr(unsafe.Pointer(&e.elapsed)), from.handle, e.handle}
	r, _, _ := purego.SyscallN(e.device.api.cuEventElapsedTime, e.args[:]...)
	runtime.KeepAlive(e)
	if err := e.device.check("cuEventElapsedTime", int32(r)); err != nil {
		return 0, err
	}
	return float64(e.elapsed) * 1000, nil
}

func (e *event) Destroy() error {
	if err := e.usable(); err != nil {
		return err
	}
	return e.destroy()
}

func (e *event) destroy() error {
	delete(e.device.events, e)
	e.gone = true
	return e.device.check("cuEventDestroy_v2", e.device.api.cuEventDestroy(e.handle))
}
