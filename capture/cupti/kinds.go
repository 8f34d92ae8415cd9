package cupti

import "fmt"

// copyKind names CUpti_ActivityMemcpyKind. A is an array, as CUDA calls it.
func copyKind(n uint32) string {
	names := []string{1: "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}
	if n == 0 || n >= uint32(len(names)) {
		return fmt.Sprintf("kind %d", n)
	}
	return names[n]
}

// memoryKind names CUpti_ActivityMemoryKind; it is empty for what is not known.
func memoryKind(n uint32) string {
	names := []string{1: "pageable", "pinned", "device", "array", "managed", "device static", "managed static"}
	if n >= uint32(len(names)) {
		return ""
	}
	return names[n]
}

// allocationKind names CUpti_ActivityMemoryOperationType.
func allocationKind(n uint32) string {
	switch n {
	case 1:
		return "allocate"
	case 2:
		return "free"
	}
	return fmt.Sprintf("operation %d", n)
}

// versionName writes an API version as its CUDA release where the number holds it
// (xxyyzz since CUDA 13.0), and as the number otherwise.
func versionName(v uint32) string {
	if v >= 130000 {
		return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
	}
	return fmt.Sprintf("API %d", v)
}
