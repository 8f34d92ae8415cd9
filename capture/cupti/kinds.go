package cupti

import "fmt"

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
