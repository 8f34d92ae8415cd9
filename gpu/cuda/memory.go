package cuda

import (
	"errors"
	"fmt"

	"mage/gpu"
)

// Alloc returns device memory. When there is not enough of it the error is a
// *DriverError that matches ErrOutOfMemory and says what was asked and what is
// free.
func (d *Device) Alloc(bytes int64) (gpu.Ptr, error) {
	if d.dead != nil {
		return 0, d.dead
	}
	if bytes < 0 {
		return 0, fmt.Errorf("allocate %d bytes: the size is negative", bytes)
	}
	var p uint64
	// The driver refuses zero bytes; one gives a pointer that is valid and distinct.
	code := d.api.cuMemAlloc(&p, uint64(max(bytes, 1)))
	if code == 0 {
		d.memory[gpu.Ptr(p)] = bytes
		return gpu.Ptr(p), nil
	}
	err := d.failed("cuMemAlloc_v2", code)
	if errors.Is(err, ErrOutOfMemory) {
		err.Detail = fmt.Sprintf("asked for %d bytes", bytes)
		if free, total, memErr := d.Memory(); memErr == nil {
			err.Detail += fmt.Sprintf(", %d of %d are free", free, total)
		}
	}
	return 0, err
}

// Memory returns the bytes of device memory that are free, and all there are.
func (d *Device) Memory() (free, total int64, err error) {
	if d.dead != nil {
		return 0, 0, d.dead
	}
	var f, t uint64
	if err := d.check("cuMemGetInfo_v2", d.api.cuMemGetInfo(&f, &t)); err != nil {
		return 0, 0, err
	}
	return int64(f), int64(t), nil
}

// Free gives memory back. It waits for work that may use it.
func (d *Device) Free(p gpu.Ptr) error {
	if d.dead != nil {
		return d.dead
	}
	if _, ok := d.memory[p]; !ok {
		return fmt.Errorf("free %#x: not an allocation of this device", uint64(p))
	}
	return d.free(p)
}

func (d *Device) free(p gpu.Ptr) error {
	delete(d.memory, p)
	return d.check("cuMemFree_v2", d.api.cuMemFree(uint64(p)))
}

// Upload copies src to device memory and returns when it is there.
func (d *Device) Upload(dst gpu.Ptr, src []byte) error {
	if d.dead != nil {
		return d.dead
	}
	if len(src) == 0 {
		return nil
	}
	if err := d.check("cuMemcpyHtoD_v2", d.api.cuMemcpyHtoD(uint64(dst), &src[0], uint64(len(src)))); err != nil {
		return fmt.Errorf("upload %d bytes: %w", len(src), err)
	}
	// A copy from pageable memory may return once it is staged, before it has
	// reached the device, and a non-blocking stream would not wait for it.
	return d.syncDefault()
}

// Download copies device memory to dst. It does not wait for work on streams
// made by NewStream: synchronize those first.
func (d *Device) Download(dst []byte, src gpu.Ptr) error {
	if d.dead != nil {
		return d.dead
	}
	if len(dst) == 0 {
		return nil
	}
	if err := d.check("cuMemcpyDtoH_v2", d.api.cuMemcpyDtoH(&dst[0], uint64(src), uint64(len(dst)))); err != nil {
		return fmt.Errorf("download %d bytes: %w", len(dst), err)
	}
	return nil
}

// Fill sets each of bytes to value and returns when it is done.
func (d *Device) Fill(dst gpu.Ptr, value byte, bytes int64) error {
	if d.dead != nil {
		return d.dead
	}
	if bytes < 0 {
		return fmt.Errorf("fill %d bytes: the size is negative", bytes)
	}
	if bytes == 0 {
		return nil
	}
	if err := d.check("cuMemsetD8_v2", d.api.cuMemsetD8(uint64(dst), value, uint64(bytes))); err != nil {
		return fmt.Errorf("fill %d bytes: %w", bytes, err)
	}
	// Setting memory is asynchronous with respect to the host.
	return d.syncDefault()
}

// syncDefault waits for the default stream, which uploads and fills run on.
func (d *Device) syncDefault() error {
	return d.sync("cuStreamSynchronize", 0)
}
