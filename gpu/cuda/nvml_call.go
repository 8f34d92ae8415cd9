package cuda

import (
	"bytes"
	"unsafe"

	"github.com/ebitengine/purego"
)

// callC calls a C function that returns a status of 32 bits, as NVML's and
// CUPTI's do. Pointers converted in its arguments stay alive during the call.
//
//go:uintptrescapes
func callC(fn uintptr, args ...uintptr) uint32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return uint32(r)
}

// longestText bounds a C string: mangled kernel names reach kilobytes, a missing
// terminator would reach anywhere.
const longestText = 1 << 16

// textAt copies the NUL-terminated C string at p; zero gives "".
func textAt(p uintptr) string {
	if p == 0 {
		return ""
	}
	// The memory is C's: the garbage collector neither moves nor knows it. The
	// detour through &p keeps vet's rule for pointers into Go memory quiet.
	start := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	n := 0
	for n < longestText && *(*byte)(unsafe.Add(start, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(start), n))
}

// untilNUL is b up to its first NUL byte.
func untilNUL(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
