package cuda

import (
	"fmt"
	"strings"

	"github.com/ebitengine/purego"

	"mage/unavailable"
)

// driver is one loaded libcuda. Functions that are called once in a while are
// typed; those inside a measured loop are bare addresses for purego.SyscallN,
// which allocates nothing.
type driver struct {
	path    string
	version int // 13000 for CUDA 13.0
	lacking map[feature]string

	cuInit             func(flags uint32) int32
	cuDriverGetVersion func(*int32) int32
	cuGetErrorName     func(int32, **byte) int32
	cuGetErrorString   func(int32, **byte) int32

	cuDeviceGetCount          func(*int32) int32
	cuDeviceGet               func(*int32, int32) int32
	cuDeviceGetName           func(*byte, int32, int32) int32
	cuDeviceGetUuid           func(*byte, int32) int32
	cuDeviceGetAttribute      func(*int32, int32, int32) int32
	cuDeviceTotalMem          func(*uint64, int32) int32
	cuDevicePrimaryCtxRetain  func(*uintptr, int32) int32
	cuDevicePrimaryCtxRelease func(int32) int32
	cuDevicePrimaryCtxReset   func(int32) int32
	cuCtxGetCurrent           func(*uintptr) int32
	cuCtxSetCurrent           func(uintptr) int32
	cuCtxSynchronize          func() int32
	cuMemGetInfo              func(free, total *uint64) int32
	cuMemAlloc                func(*uint64, uint64) int32
	cuMemFree                 func(uint64) int32
	cuMemcpyHtoD              func(uint64, *byte, uint64) int32
	cuMemcpyDtoH              func(*byte, uint64, uint64) int32
	cuMemsetD8                func(uint64, uint8, uint64) int32
	cuModuleLoadDataEx        func(*uintptr, *byte, uint32, *int32, *uintptr) int32
	cuModuleUnload            func(uintptr) int32
	cuModuleGetFunction       func(*uintptr, uintptr, string) int32
	cuFuncGetAttribute        func(*int32, int32, uintptr) int32
	cuFuncSetAttribute        func(uintptr, int32, int32) int32
	cuFuncGetParamInfo        func(uintptr, uint64, *uint64, *uint64) int32
	cuFuncGetParamCount       func(uintptr, *uint64) int32
	cuStreamCreate            func(*uintptr, uint32) int32
	cuStreamDestroy           func(uintptr) int32
	cuEventCreate             func(*uintptr, uint32) int32
	cuEventDestroy            func(uintptr) int32
	cuStreamBeginCapture      func(uintptr, int32) int32
	cuStreamEndCapture        func(uintptr, *uintptr) int32
	cuGraphGetNodes           func(uintptr, *uintptr, *uint64) int32
	cuGraphInstantiate        func(*uintptr, uintptr, uint64) int32
	cuGraphUpload             func(uintptr, uintptr) int32
	cuGraphDestroy            func(uintptr) int32
	cuGraphExecDestroy        func(uintptr) int32
	cuProfilerStart           func() int32
	cuProfilerStop            func() int32

	cuLaunchKernel      uintptr
	cuStreamSynchronize uintptr
	cuMemsetD8Async     uintptr
	cuMemcpyDtoDAsync   uintptr
	cuEventRecord       uintptr
	cuEventSynchronize  uintptr
	cuEventElapsedTime  uintptr
	cuGraphLaunch       uintptr
}

// feature names what is lost when an older driver lacks a symbol.
type feature string

const (
	core      feature = ""
	graphs    feature = "CUDA graphs"
	profiling feature = "the CUDA profiler control"
	// optional symbols have a replacement or improve an error message.
	optional feature = "optional"
)

// symbol binds the first of its names that the library exports. The names end
// in the version whose signature the field has (cuda.h, "#define cuMemAlloc
// cuMemAlloc_v2").
type symbol struct {
	target any // *func(…) or *uintptr
	need   feature
	names  []string
}

func (d *driver) symbols() []symbol {
	one := func(target any, need feature, names ...string) symbol { return symbol{target, need, names} }
	return []symbol{
		one(&d.cuInit, core, "cuInit"),
		one(&d.cuDriverGetVersion, core, "cuDriverGetVersion"),
		one(&d.cuGetErrorName, core, "cuGetErrorName"),
		one(&d.cuGetErrorString, core, "cuGetErrorString"),
		one(&d.cuDeviceGetCount, core, "cuDeviceGetCount"),
		one(&d.cuDeviceGet, core, "cuDeviceGet"),
		one(&d.cuDeviceGetName, core, "cuDeviceGetName"),
		one(&d.cuDeviceGetUuid, optional, "cuDeviceGetUuid_v2", "cuDeviceGetUuid"),
		one(&d.cuDeviceGetAttribute, core, "cuDeviceGetAttribute"),
		one(&d.cuDeviceTotalMem, core, "cuDeviceTotalMem_v2"),
		one(&d.cuDevicePrimaryCtxRetain, core, "cuDevicePrimaryCtxRetain"),
		one(&d.cuDevicePrimaryCtxRelease, core, "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease"),
		one(&d.cuDevicePrimaryCtxReset, optional, "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset"),
		one(&d.cuCtxGetCurrent, core, "cuCtxGetCurrent"),
		one(&d.cuCtxSetCurrent, core, "cuCtxSetCurrent"),
		one(&d.cuCtxSynchronize, core, "cuCtxSynchronize"),
		one(&d.cuMemGetInfo, core, "cuMemGetInfo_v2"),
		one(&d.cuMemAlloc, core, "cuMemAlloc_v2"),
		one(&d.cuMemFree, core, "cuMemFree_v2"),
		one(&d.cuMemcpyHtoD, core, "cuMemcpyHtoD_v2"),
		one(&d.cuMemcpyDtoH, core, "cuMemcpyDtoH_v2"),
		one(&d.cuMemsetD8, core, "cuMemsetD8_v2"),
		one(&d.cuMemsetD8Async, core, "cuMemsetD8Async"),
		one(&d.cuMemcpyDtoDAsync, core, "cuMemcpyDtoDAsync_v2"),
		one(&d.cuModuleLoadDataEx, core, "cuModuleLoadDataEx"),
		one(&d.cuModuleUnload, core, "cuModuleUnload"),
		one(&d.cuModuleGetFunction, core, "cuModuleGetFunction"),
		one(&d.cuFuncGetAttribute, core, "cuFuncGetAttribute"),
		one(&d.cuFuncSetAttribute, core, "cuFuncSetAttribute"),
		one(&d.cuFuncGetParamInfo, optional, "cuFuncGetParamInfo"),
		one(&d.cuFuncGetParamCount, optional, "cuFuncGetParamCount"),
		one(&d.cuLaunchKernel, core, "cuLaunchKernel"),
		one(&d.cuStreamCreate, core, "cuStreamCreate"),
		one(&d.cuStreamDestroy, core, "cuStreamDestroy_v2"),
		one(&d.cuStreamSynchronize, core, "cuStreamSynchronize"),
		one(&d.cuEventCreate, core, "cuEventCreate"),
		one(&d.cuEventDestroy, core, "cuEventDestroy_v2"),
		one(&d.cuEventRecord, core, "cuEventRecord"),
		one(&d.cuEventSynchronize, core, "cuEventSynchronize"),
		one(&d.cuEventElapsedTime, core, "cuEventElapsedTime_v2", "cuEventElapsedTime"),
		one(&d.cuStreamBeginCapture, graphs, "cuStreamBeginCapture_v2"),
		one(&d.cuStreamEndCapture, graphs, "cuStreamEndCapture"),
		one(&d.cuGraphGetNodes, graphs, "cuGraphGetNodes"),
		one(&d.cuGraphInstantiate, graphs, "cuGraphInstantiateWithFlags"),
		one(&d.cuGraphLaunch, graphs, "cuGraphLaunch"),
		one(&d.cuGraphDestroy, graphs, "cuGraphDestroy"),
		one(&d.cuGraphExecDestroy, graphs, "cuGraphExecDestroy"),
		one(&d.cuGraphUpload, optional, "cuGraphUpload"),
		one(&d.cuProfilerStart, profiling, "cuProfilerStart"),
		one(&d.cuProfilerStop, profiling, "cuProfilerStop"),
	}
}

// driverNames are tried in order when no path is given. The last two are where
// containers and WSL keep the host's driver.
func driverNames() []string {
	return []string{"libcuda.so.1", "libcuda.so",
		"/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}
}

// loadDriver loads libcuda and binds its symbols. The library is never unloaded:
// it keeps threads of its own.
func loadDriver(path string) (*driver, error) {
	const remedy = "install the NVIDIA driver, or set MAGE_LIBCUDA to its libcuda.so.1"
	names := driverNames()
	if path != "" {
		names = []string{path}
	}
	handle, name, err := openFirst(names)
	if err != nil {
		return nil, unavailable.New("the CUDA driver", err.Error(), remedy)
	}
	d := &driver{path: name, lacking: map[feature]string{}}
	for _, s := range d.symbols() {
		if !bind(handle, s) && d.lacking[s.need] == "" {
			d.lacking[s.need] = s.names[0]
		}
	}
	if d.cuDriverGetVersion != nil {
		var v int32
		if d.cuDriverGetVersion(&v) == 0 {
			d.version = int(v)
		}
	}
	if s := d.lacking[core]; s != "" {
		return nil, d.lacks("the CUDA driver", s)
	}
	return d, nil
}

// require returns an *unavailable.Error if the driver lacks a symbol that the
// feature needs.
func (d *driver) require(f feature) error {
	if s := d.lacking[f]; s != "" {
		return d.lacks(string(f), s)
	}
	return nil
}

func (d *driver) lacks(what, symbol string) error {
	return unavailable.New(what,
		fmt.Sprintf("%s (CUDA %s) does not have %s", d.path, formatVersion(d.version), symbol),
		"update the NVIDIA driver to one for CUDA 12 or later")
}

func bind(handle uintptr, s symbol) bool {
	for _, name := range s.names {
		addr, err := Dlsym(handle, name)
		if err != nil || addr == 0 {
			continue
		}
		if p, ok := s.target.(*uintptr); ok {
			*p = addr
		} else {
			purego.RegisterFunc(s.target, addr)
		}
		return true
	}
	return false
}

// openFirst loads the first library that can be loaded; names is not empty.
func openFirst(names []string) (handle uintptr, name string, err error) {
	var first, telling error
	for _, name := range names {
		handle, err := Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return handle, name, nil
		}
		if first == nil {
			first = err
		}
		// A library that is there and does not load says more than one that is not.
		if telling == nil && !strings.Contains(err.Error(), "No such file") {
			telling = err
		}
	}
	if telling != nil {
		return 0, "", telling
	}
	return 0, "", first
}
