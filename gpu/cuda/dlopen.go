package cuda

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Dlopen loads a library for this package and for whoever probes libraries
// beside it. The loader keeps its last error per thread, so the call and the
// question that follows it must not be moved to another one in between: the
// error would have no text.
func Dlopen(path string, mode int) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, mode)
}

// Dlsym is purego's, held to one thread for the same reason.
func Dlsym(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(handle, name)
}
