package capture

import "fmt"

// CopyKind names a CUpti_ActivityMemcpyKind, which every tracer of CUDA passes on.
// A is an array, as CUDA calls it.
func CopyKind(n int64) string {
	names := []string{1: "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}
	if n < 1 || n >= int64(len(names)) {
		return fmt.Sprintf("kind %d", n)
	}
	return names[n]
}

// MemoryKind names a CUpti_ActivityMemoryKind; it is empty for what is not known.
func MemoryKind(n int64) string {
	names := []string{1: "pageable", "pinned", "device", "array", "managed", "device static", "managed static"}
	if n < 0 || n >= int64(len(names)) {
		return ""
	}
	return names[n]
}
