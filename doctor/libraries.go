package doctor

import (
	"context"
	"fmt"

	"github.com/ebitengine/purego"

	"mage/gpu/cuda"
)

func (o Options) nvrtc(ctx context.Context, report func(Finding)) {
	n, err := o.CUDA.OpenNVRTC()
	if err != nil {
		report(missing("NVRTC", err))
		return
	}
	report(Finding{Item: "NVRTC", Available: true, Version: n.Version(), Path: n.Path()})
}

func cupti(ctx context.Context, report func(Finding)) {
	lib, err := cuda.ProbeCUPTI()
	if err != nil {
		report(missing("CUPTI", err))
		return
	}
	report(Finding{Item: "CUPTI", Available: true, Version: lib.Version, Path: lib.Path})
}

func nvml(ctx context.Context, report func(Finding)) {
	lib, _, err := cuda.ProbeNVML()
	if err != nil {
		report(missing("NVML", err))
		return
	}
	report(Finding{Item: "NVML", Available: true, Version: lib.Version, Path: lib.Path})
}

func cublasLt(ctx context.Context, report func(Finding)) {
	report(cublasLtAmong(cuda.LibraryPaths("MAGE_CUBLASLT", "libcublasLt.so.13", "libcublasLt.so.12")))
}

// cublasLtAmong loads the first cuBLASLt of paths that loads, and asks for its
// version: major × 10000 + minor × 100 + patch.
func cublasLtAmong(paths []string) Finding {
	const item = "cuBLASLt"
	const remedy = "install the CUDA toolkit or the Python package nvidia-cublas, or set MAGE_CUBLASLT to its libcublasLt.so"
	reason := "not found"
	for _, path := range paths {
		handle, err := cuda.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			reason = printable(err.Error())
			continue
		}
		symbol, err := cuda.Dlsym(handle, "cublasLtGetVersion")
		if err != nil {
			reason = path + " has no symbol cublasLtGetVersion"
			continue
		}
		v, _, _ := purego.SyscallN(symbol)
		return Finding{Item: item, Available: true, Path: path,
			Version: fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)}
	}
	return Finding{Item: item, Reason: reason, Remedy: remedy}
}
