package cuda

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"

	"mage/gpu"
)

// streamNonBlocking keeps a stream from waiting for the default stream.
const streamNonBlocking = 1

// stream is a non-blocking CUDA stream. args is the argument list of its hot
// calls, reused so that they allocate nothing.
type stream struct {
	device *Device
	handle uintptr
	args   [4]uintptr
	gone   bool
}

var errForeign = errors.New("it belongs to another device, or was destroyed")

// NewStream makes an in-order queue that does not wait for the default stream.
func (d *Device) NewStream() (gpu.Stream, error) {
	if d.dead != nil {
		return nil, d.dead
	}
	s := &stream{device: d}
	if err := d.check("cuStreamCreate", d.api.cuStreamCreate(&s.handle, streamNonBlocking)); err != nil {
		return nil, err
	}
	d.streams[s] = struct{}{}
	return s, nil
}

// usable returns the error that a call on the stream must return at once.
func (s *stream) usable() error {
	if s.device.dead != nil {
		return s.device.dead
	}
	if s.gone {
		return fmt.Errorf("stream: %w", errForeign)
	}
	return nil
}

// sync waits for a stream handle; 0 is the default stream.
func (d *Device) sync(call string, handle uintptr) error {
	r, _, _ := purego.SyscallN(d.api.cuStreamSynchronize, handle)
	return d.check(call, int32(r))
}

func (s *stream) Synchronize() error {
	if err := s.usable(); err != nil {
		return err
	}
	s.args[0] = s.handle
	r, _, _ := purego.SyscallN(s.device.api.cuStreamSynchronize, s.args[:1]...)
	return s.device.check("cuStreamSynchronize", int32(r))
}

func (s *stream) Record(e gpu.Event) error {
	if err := s.usable(); err != nil {
		return err
	}
	ev, ok := e.(*event)
	if !ok || ev.device != s.device || ev.gone {
		return fmt.Errorf("record an event: %w", errForeign)
	}
	s.args[0], s.args[1] = ev.handle, s.handle
	r, _, _ := purego.SyscallN(s.device.api.cuEventRecord, s.args[:2]...)
	return s.device.check("cuEventRecord", int32(r))
}

func (s *stream) FillAsync(dst gpu.Ptr, value byte, bytes int64) error {
	if err := s.usable(); err != nil {
		return err
	}
	if bytes < 0 {
		return fmt.Errorf("fill %d bytes: the size is negative", bytes)
	}
	s.args = [4]uintptr{uintptr(dst), uintptr(value), uintptr(bytes), s.handle}
	r, _, _ := purego.SyscallN(s.device.api.cuMemsetD8Async, s.args[:]...)
	return s.device.check("cuMemsetD8Async", int32(r))
}

func (s *stream) CopyAsync(dst, src gpu.Ptr, bytes int64) error {
	if err := s.usable(); err != nil {
		return err
	}
	if bytes < 0 {
		return fmt.Errorf("copy %d bytes: the size is negative", bytes)
	}
	s.args = [4]uintptr{uintptr(dst), uintptr(src), uintptr(bytes), s.handle}
	r, _, _ := purego.SyscallN(s.device.api.cuMemcpyDtoDAsync, s.args[:]...)
	return s.device.check("cuMemcpyDtoDAsync_v2", int32(r))
}

func (s *stream) Destroy() error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.destroy()
}

func (s *stream) destroy() error {
	delete(s.device.streams, s)
	s.gone = true
	return s.device.check("cuStreamDestroy_v2", s.device.api.cuStreamDestroy(s.handle))
}
