package cuda

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"mage/unavailable"
)

// NVRTC is a loaded NVIDIA run-time compiler. It needs neither a GPU nor a
// driver, and its methods may be called from any goroutine.
type NVRTC struct {
	path         string
	headers      []string
	major, minor int

	nvrtcVersion              func(major, minor *int32) int32
	nvrtcGetErrorString       func(int32) *byte
	nvrtcCreateProgram        func(prog *uintptr, src, name string, headers int32, sources, names uintptr) int32
	nvrtcDestroyProgram       func(*uintptr) int32
	nvrtcCompileProgram       func(prog uintptr, n int32, options *unsafe.Pointer) int32
	nvrtcGetProgramLogSize    func(uintptr, *uint64) int32
	nvrtcGetProgramLog        func(uintptr, *byte) int32
	nvrtcGetPTXSize           func(uintptr, *uint64) int32
	nvrtcGetPTX               func(uintptr, *byte) int32
	nvrtcGetCUBINSize         func(uintptr, *uint64) int32
	nvrtcGetCUBIN             func(uintptr, *byte) int32
	nvrtcGetNumSupportedArchs func(*int32) int32
	nvrtcGetSupportedArchs    func(*int32) int32
}

// Compiled is the result of a compilation.
type Compiled struct {
	PTX   []byte // text, without the C string's end; empty if the compiler made none
	CUBIN []byte // for sm_XX only
	// Log holds warnings, and with "--ptxas-options=-v" the resources that
	// ParsePTXASInfo reads.
	Log string
}

// CompileError is source or an option that NVRTC rejected.
type CompileError struct {
	Name   string // of the source: "gelu.cu"
	Call   string // "nvrtcCompileProgram"
	Code   int    // nvrtcResult
	Result string // "NVRTC_ERROR_COMPILATION"
	Log    string // the compiler's messages
}

func (e *CompileError) Error() string {
	s := fmt.Sprintf("compile %s: %s: %s", e.Name, e.Call, e.Result)
	if log := strings.TrimSpace(e.Log); log != "" {
		s += "\n" + log
	}
	return s
}

// nvrtcNames are the library's names, newest first.
func nvrtcNames() []string { return []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"} }

// OpenNVRTC loads NVRTC from path, a library or a directory that holds one. With
// an empty path it takes what MAGE_NVRTC names, else it searches as LibraryPaths
// says. It returns an *unavailable.Error if there is none.
func OpenNVRTC(path string) (*NVRTC, error) {
	if path == "" {
		path = os.Getenv("MAGE_NVRTC")
	}
	names := []string{path}
	if path == "" {
		names = LibraryPaths("", nvrtcNames()...)
	} else if info, err := os.Stat(path); err == nil && info.IsDir() {
		names = nil
		for _, n := range nvrtcNames() {
			names = append(names, filepath.Join(path, n))
		}
	}
	const remedy = "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set MAGE_NVRTC to libnvrtc.so"
	handle, name, err := openFirst(names)
	if err != nil {
		return nil, unavailable.New("NVRTC", err.Error(), remedy)
	}
	n := &NVRTC{path: loadedPath(name)}
	if symbol := n.bind(handle); symbol != "" {
		return nil, unavailable.New("NVRTC", n.path+" does not have "+symbol, remedy)
	}
	var major, minor int32
	if code := n.nvrtcVersion(&major, &minor); code != 0 {
		return nil, unavailable.New("NVRTC", n.path+": "+n.failed("", "nvrtcVersion", code).Result, remedy)
	}
	n.major, n.minor = int(major), int(minor)
	n.loadBuiltins()
	n.headers = headers(n.path)
	return n, nil
}

// loadBuiltins loads the library that NVRTC itself opens by its bare name, and so
// does not find in a folder that the loader does not search. If it is not beside
// NVRTC the loader must know it, or Compile says that it is missing.
func (n *NVRTC) loadBuiltins() {
	name := fmt.Sprintf("libnvrtc-builtins.so.%d.%d", n.major, n.minor)
	_, _ = Dlopen(filepath.Join(filepath.Dir(n.path), name), purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// OpenNVRTC loads NVRTC from the options' path.
func (o Options) OpenNVRTC() (*NVRTC, error) { return OpenNVRTC(o.NVRTCPath) }

// bind finds the functions and returns the name of one that is missing.
func (n *NVRTC) bind(handle uintptr) (missing string) {
	for _, s := range []struct {
		name   string
		target any
	}{
		{"nvrtcVersion", &n.nvrtcVersion},
		{"nvrtcGetErrorString", &n.nvrtcGetErrorString},
		{"nvrtcCreateProgram", &n.nvrtcCreateProgram},
		{"nvrtcDestroyProgram", &n.nvrtcDestroyProgram},
		{"nvrtcCompileProgram", &n.nvrtcCompileProgram},
		{"nvrtcGetProgramLogSize", &n.nvrtcGetProgramLogSize},
		{"nvrtcGetProgramLog", &n.nvrtcGetProgramLog},
		{"nvrtcGetPTXSize", &n.nvrtcGetPTXSize},
		{"nvrtcGetPTX", &n.nvrtcGetPTX},
		{"nvrtcGetCUBINSize", &n.nvrtcGetCUBINSize},
		{"nvrtcGetCUBIN", &n.nvrtcGetCUBIN},
		{"nvrtcGetNumSupportedArchs", &n.nvrtcGetNumSupportedArchs},
		{"nvrtcGetSupportedArchs", &n.nvrtcGetSupportedArchs},
	} {
		addr, err := Dlsym(handle, s.name)
		if err != nil || addr == 0 {
			return s.name
		}
		purego.RegisterFunc(s.target, addr)
	}
	return ""
}

// Version returns the CUDA version of the compiler, such as "13.0".
func (n *NVRTC) Version() string { return fmt.Sprintf("%d.%d", n.major, n.minor) }

// Path is the library that was loaded: for a person, never for a record.
func (n *NVRTC) Path() string { return n.path }

// SupportedArchs lists the architectures that can be compiled for, ascending:
// 75 for sm_75 and compute_75.
func (n *NVRTC) SupportedArchs() ([]int, error) {
	var count int32
	if code := n.nvrtcGetNumSupportedArchs(&count); code != 0 {
		return nil, n.failed("", "nvrtcGetNumSupportedArchs", code)
	}
	if count == 0 {
		return nil, nil
	}
	archs := make([]int32, count)
	if code := n.nvrtcGetSupportedArchs(&archs[0]); code != 0 {
		return nil, n.failed("", "nvrtcGetSupportedArchs", code)
	}
	out := make([]int, count)
	for i, a := range archs {
		out[i] = int(a)
	}
	return out, nil
}

// Compile compiles CUDA C++. name stands for the source in messages. Give
// "--gpu-architecture=sm_90" to get a cubin (and its PTX), "compute_90" to get
// PTX only. A failure is a *CompileError with the compiler's log. CUDA's headers are
// found where they are installed; MAGE_CUDA_INCLUDE names other folders.
func (n *NVRTC) Compile(name, source string, options []string) (Compiled, error) {
	options = slices.Clone(options)
	for _, dir := range n.headers {
		options = append(options, "--include-path="+dir)
	}
	var prog uintptr
	if code := n.nvrtcCreateProgram(&prog, source, name, 0, 0, 0); code != 0 {
		return Compiled{}, n.failed(name, "nvrtcCreateProgram", code)
	}
	defer n.nvrtcDestroyProgram(&prog)

	var pin runtime.Pinner
	defer pin.Unpin()
	pointers := make([]unsafe.Pointer, len(options)+1)
	for i, o := range options {
		text := append([]byte(o), 0)
		pin.Pin(&text[0])
		pointers[i] = unsafe.Pointer(&text[0])
	}
	code := n.nvrtcCompileProgram(prog, int32(len(options)), &pointers[0])
	var c Compiled
	log, logErr := n.output(name, prog, "nvrtcGetProgramLog", n.nvrtcGetProgramLogSize, n.nvrtcGetProgramLog)
	c.Log = withoutFolders(string(bytes.TrimRight(log, "\x00")), n.headers)
	if code != 0 {
		err := n.failed(name, "nvrtcCompileProgram", code)
		err.Log = c.Log
		return Compiled{}, err
	}
	if logErr != nil {
		return Compiled{}, logErr
	}
	ptx, err := n.output(name, prog, "nvrtcGetPTX", n.nvrtcGetPTXSize, n.nvrtcGetPTX)
	if err != nil {
		return Compiled{}, err
	}
	c.PTX = bytes.TrimRight(ptx, "\x00")
	c.CUBIN, err = n.output(name, prog, "nvrtcGetCUBIN", n.nvrtcGetCUBINSize, n.nvrtcGetCUBIN)
	return c, err
}

// output reads one result of a program: its size, then its bytes.
func (n *NVRTC) output(name string, prog uintptr, call string,
	size func(uintptr, *uint64) int32, get func(uintptr, *byte) int32) ([]byte, error) {
	var bytes uint64
	if code := size(prog, &bytes); code != 0 {
		return nil, n.failed(name, call+"Size", code)
	}
	if bytes == 0 {
		return nil, nil
	}
	b := make([]byte, bytes)
	if code := get(prog, &b[0]); code != 0 {
		return nil, n.failed(name, call, code)
	}
	return b, nil
}

func (n *NVRTC) failed(name, call string, code int32) *CompileError {
	return &CompileError{Name: name, Call: call, Code: int(code), Result: goString(n.nvrtcGetErrorString(code))}
}
