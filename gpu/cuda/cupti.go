package cuda

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"mage/unavailable"
)

const (
	cuptiFlushForced = 1

	cuptiMaxLimitReached = 12 // of cuptiActivityGetNextRecord: no more records
	cuptiInvalidKind     = 21 // likewise: the rest of the buffer is not filled

	cuptiRemedy = "install CUPTI (CUDA toolkit, or the PyPI package nvidia-cuda-cupti) or set MAGE_CUPTI to its libcupti.so"
)

// cuptiSonames are the libraries understood, newest first.
func cuptiSonames() []string { return []string{"libcupti.so.13", "libcupti.so.12"} }

// cuptiLibrary is the loaded library with its one pair of buffer callbacks.
type cuptiLibrary struct {
	path    string
	version uint32
	symbol  cuptiSymbols

	buffers cuptiBuffers
	tracing sync.Mutex // held during a trace: activity kinds are process-wide
	// The callbacks as C sees them, made once: Go can never free one. Guarded by
	// tracing.
	requested, completed uintptr
}

type cuptiSymbols struct {
	version, register, enable, disable, finalize uintptr
	flush, next, dropped, resultString           uintptr
}

// theCUPTI is the process's CUPTI. It is the package's one mutable variable,
// because CUPTI is itself one per process: a second registration replaces the
// callbacks of the first, and Go can never free a callback.
var theCUPTI struct {
	sync.Mutex
	lib *cuptiLibrary
}

func loadCUPTI() (*cuptiLibrary, error) {
	theCUPTI.Lock()
	defer theCUPTI.Unlock()
	if theCUPTI.lib != nil {
		return theCUPTI.lib, nil
	}
	// One process has one set of callbacks: ours would take over those of the
	// library that is injected by `mage profile --backend cupti`.
	if os.Getenv("MAGE_TRACE_FILE") != "" {
		return nil, unavailable.New("kernel tracing (CUPTI)", "this process is being traced through CUPTI from outside", "run it without a profiler")
	}
	lib, err := loadCUPTIFrom(LibraryPaths("MAGE_CUPTI", cuptiSonames()...))
	if err != nil {
		return nil, err
	}
	theCUPTI.lib = lib
	return lib, nil
}

// loadCUPTIFrom loads the first library of paths that is understood. Of several
// failures it reports the one that says most: a library that was refused.
func loadCUPTIFrom(paths []string) (*cuptiLibrary, error) {
	var refused error
	for _, path := range paths {
		handle, err := Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		c, err := newCUPTILibrary(path, handle)
		if err == nil {
			return c, nil
		}
		if refused == nil {
			refused = err
		}
	}
	if refused != nil {
		return nil, refused
	}
	_, _, err := openFirst(paths) // none opens: in the loader's words
	return nil, unavailable.New("CUPTI", fmt.Sprint(err), cuptiRemedy)
}

func newCUPTILibrary(path string, handle uintptr) (*cuptiLibrary, error) {
	c := &cuptiLibrary{path: loadedPath(path)}
	for name, fn := range map[string]*uintptr{
		"cuptiGetVersion":                   &c.symbol.version,
		"cuptiActivityRegisterCallbacks":    &c.symbol.register,
		"cuptiActivityEnable":               &c.symbol.enable,
		"cuptiActivityDisable":              &c.symbol.disable,
		"cuptiFinalize":                     &c.symbol.finalize,
		"cuptiActivityFlushAll":             &c.symbol.flush,
		"cuptiActivityGetNextRecord":        &c.symbol.next,
		"cuptiActivityGetNumDroppedRecords": &c.symbol.dropped,
		"cuptiGetResultString":              &c.symbol.resultString,
	} {
		p, err := Dlsym(handle, name)
		if err != nil {
			return nil, unavailable.New("CUPTI", fmt.Sprintf("%s has no symbol %s", path, name), cuptiRemedy)
		}
		*fn = p
	}
	if r := callC(c.symbol.version, uintptr(unsafe.Pointer(&c.version))); r != 0 {
		return nil, unavailable.New("CUPTI", c.errorText("cuptiGetVersion", r), cuptiRemedy)
	}
	if c.version < oldestCUPTI {
		return nil, unavailable.New("CUPTI", fmt.Sprintf("%s has API version %d; version %d (CUDA 12.4) is the oldest that works", path, c.version, oldestCUPTI), cuptiRemedy)
	}
	return c, nil
}

// attach registers the buffer callbacks. The caller holds tracing.
func (c *cuptiLibrary) attach() error {
	if c.requested == 0 {
		c.requested = purego.NewCallback(c.buffers.requested)
		c.completed = purego.NewCallback(c.buffers.completed)
	}
	return c.check("cuptiActivityRegisterCallbacks", callC(c.symbol.register, c.requested, c.completed))
}

// detach ends CUPTI's presence in the process, up to the next attach. NVIDIA asks
// that the device be synchronized and the buffers flushed before.
func (c *cuptiLibrary) detach() error {
	derr := c.failure("cuptiActivityDisable", callC(c.symbol.disable, activityConcurrentKernel))
	if err := c.failure("cuptiFinalize", callC(c.symbol.finalize)); err != nil {
		return errors.Join(derr, err)
	}
	c.buffers.reclaim()
	return derr
}

// check makes a failed set-up call an *unavailable.Error that names CUPTI's own
// error: another subscriber (a profiler around this process), missing
// privileges, a device CUPTI does not support.
func (c *cuptiLibrary) check(function string, result uint32) error {
	if result == 0 {
		return nil
	}
	return unavailable.New("kernel tracing (CUPTI)", c.errorText(function, result), cuptiErrorRemedy(result))
}

// cuptiErrorRemedy says what to do about the refusals a user can undo.
func cuptiErrorRemedy(result uint32) string {
	switch result {
	case 15: // CUPTI_ERROR_NOT_INITIALIZED
		return "use a CUPTI that is not newer than the driver (MAGE_CUPTI)"
	case 35, 40: // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, …VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
		return "allow profiling to users: NVreg_RestrictProfilingToAdminUsers=0, or run as administrator"
	case 26, 36, 38, 39: // HARDWARE_BUSY, OLD_PROFILER_API_INITIALIZED, LEGACY_PROFILER_NOT_SUPPORTED, MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
		return "run without another profiler around the process"
	}
	return ""
}

// errorText is "cuptiActivityEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)".
func (c *cuptiLibrary) errorText(function string, result uint32) string {
	var p uintptr
	if callC(c.symbol.resultString, uintptr(result), uintptr(unsafe.Pointer(&p))) == 0 {
		if s := textAt(p); s != "" {
			return fmt.Sprintf("%s: %s (%d)", function, s, result)
		}
	}
	return fmt.Sprintf("%s: CUPTI error %d", function, result)
}
