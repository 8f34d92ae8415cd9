package cuda

import "fmt"

// Library identifies a library that was found and loaded. Path is of this
// machine: for a person to read, never for a record.
type Library struct {
	Version string
	Path    string
}

// ProbeCUPTI loads CUPTI as a kernel trace would and says which one it is, or
// returns an *unavailable.Error. CUPTI may still refuse to trace.
func ProbeCUPTI() (Library, error) {
	c, err := loadCUPTI()
	if err != nil {
		return Library{}, err
	}
	return Library{Version: cuptiVersion(c.version), Path: c.path}, nil
}

// cuptiVersion writes an API version as its CUDA release where the number holds
// it (xxyyzz since CUDA 13.0), and as the number otherwise.
func cuptiVersion(v uint32) string {
	if v >= 130000 {
		return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
	}
	return fmt.Sprintf("API %d", v)
}
