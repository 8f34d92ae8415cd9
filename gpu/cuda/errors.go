package cuda

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrorCode is a CUresult. The constants are targets for errors.Is:
//
//	errors.Is(err, cuda.ErrOutOfMemory)
type ErrorCode int

// The results that callers decide on (cuda.h, enum cudaError_enum).
const (
	ErrInvalidValue         ErrorCode = 1
	ErrOutOfMemory          ErrorCode = 2
	ErrDeinitialized        ErrorCode = 4
	ErrStubLibrary          ErrorCode = 34
	ErrDeviceUnavailable    ErrorCode = 46
	ErrNoDevice             ErrorCode = 100
	ErrInvalidDevice        ErrorCode = 101
	ErrInvalidImage         ErrorCode = 200
	ErrNoBinaryForGPU       ErrorCode = 209
	ErrECCUncorrectable     ErrorCode = 214
	ErrInvalidPTX           ErrorCode = 218
	ErrNVLinkUncorrectable  ErrorCode = 220
	ErrUnsupportedPTX       ErrorCode = 222
	ErrContained            ErrorCode = 226
	ErrNotFound             ErrorCode = 500
	ErrNotReady             ErrorCode = 600
	ErrIllegalAddress       ErrorCode = 700
	ErrOutOfResources       ErrorCode = 701
	ErrLaunchTimeout        ErrorCode = 702
	ErrContextDestroyed     ErrorCode = 709
	ErrAssert               ErrorCode = 710
	ErrHardwareStack        ErrorCode = 714
	ErrIllegalInstruction   ErrorCode = 715
	ErrMisalignedAddress    ErrorCode = 716
	ErrInvalidAddressSpace  ErrorCode = 717
	ErrInvalidPC            ErrorCode = 718
	ErrLaunchFailed         ErrorCode = 719
	ErrSystemDriverMismatch ErrorCode = 803
	ErrCaptureUnsupported   ErrorCode = 900
	ErrCaptureInvalidated   ErrorCode = 901
	ErrExternalDevice       ErrorCode = 911
)

func (c ErrorCode) Error() string { return fmt.Sprintf("CUDA error %d", int(c)) }

// sticky reports whether the context is lost: every later call on it returns the
// same error. cuda.h says so of each ("leaves the process in an inconsistent
// state"), or names a destroyed context or uncorrectable hardware.
func (c ErrorCode) sticky() bool {
	switch c {
	case ErrECCUncorrectable, ErrNVLinkUncorrectable, ErrContained,
		ErrIllegalAddress, ErrLaunchTimeout, ErrContextDestroyed, ErrAssert,
		ErrHardwareStack, ErrIllegalInstruction, ErrMisalignedAddress,
		ErrInvalidAddressSpace, ErrInvalidPC, ErrLaunchFailed, ErrExternalDevice:
		return true
	}
	return false
}

// ErrClosed is returned by everything made from a closed device.
var ErrClosed = errors.New("the CUDA device is closed")

// DriverError is a CUDA driver call that failed.
type DriverError struct {
	Call    string // "cuMemAlloc_v2"
	Code    int    // 2
	Name    string // "CUDA_ERROR_OUT_OF_MEMORY"
	Message string // the driver's own words: "out of memory"
	// Detail says what was asked, or what the compiler logged.
	Detail string
	// Sticky errors lose the context: every later call fails with the first one.
	// Close still gives everything back, but only a new process can use the GPU.
	Sticky bool
}

func (e *DriverError) Error() string {
	s := e.Call + ": " + e.Name
	if e.Message != "" {
		s += " (" + e.Message + ")"
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Is matches an ErrorCode.
func (e *DriverError) Is(target error) bool {
	c, ok := target.(ErrorCode)
	return ok && int(c) == e.Code
}

// newError describes a failed call in the driver's words.
func (d *driver) newError(call string, code int32) *DriverError {
	e := &DriverError{Call: call, Code: int(code), Sticky: ErrorCode(code).sticky()}
	var p *byte
	if d.cuGetErrorName(code, &p) == 0 {
		e.Name = goString(p)
	}
	p = nil
	if d.cuGetErrorString(code, &p) == 0 {
		e.Message = goString(p)
	}
	if e.Name == "" {
		e.Name = fmt.Sprintf("CUDA_ERROR_%d", code)
	}
	return e
}

// failed describes a failed call on this device and remembers a sticky error.
// The first sticky error is the one that every later call returns.
func (d *Device) failed(call string, code int32) *DriverError {
	e := d.api.newError(call, code)
	if e.Sticky && d.dead == nil {
		d.dead = e
	}
	return e
}

// check returns nil for success.
func (d *Device) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return d.failed(call, code)
}

// goString copies a C string.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
