package cudatest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"
)

//go:embed testdata/stub_driver.c
var source []byte

// KernelsPTX declares the kernels that the stand-in computes: stub_fill(out,
// value, n), stub_copy(out, in, n), stub_add(out, in, n), stub_gelu(x, b, y, R,
// D), stub_trap(), which faults, and stub_empty(). A real driver accepts it too;
// there the kernels do nothing. With the macro BUILTIN_GELU the stand-in also
// computes the built-in kernels named gelu, in whatever language they are written.
//
//go:embed testdata/stub_kernels.ptx
var KernelsPTX string

// BuildStub compiles a stand-in for libcuda.so.1 of its own for the test, with
// the given macros ("HIDE_GRAPHS"), and returns its path for cuda.Options or
// MAGE_LIBCUDA. It skips the test on a machine without a C compiler.
func BuildStub(t testing.TB, defines ...string) string {
	t.Helper()
	compiler := ""
	for _, name := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			compiler = path
			break
		}
	}
	if compiler == "" {
		t.Skip("the stand-in for the CUDA driver needs a C compiler: none of cc, gcc and clang is installed")
	}
	dir := t.TempDir()
	c, lib := filepath.Join(dir, "stub_driver.c"), filepath.Join(dir, "libcuda.so.1")
	if err := os.WriteFile(c, source, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-shared", "-fPIC", "-fvisibility=hidden", "-o", lib, c, "-lm"}
	for _, d := range defines {
		args = append(args, "-D"+d)
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("build the stand-in for the CUDA driver: %v\n%s", err, out)
	}
	return lib
}

// Kind is a kind of object whose life the stand-in accounts for.
type Kind int32

// The kinds, numbered as in the stand-in's source. A template is a graph before
// it is instantiated, Context the retained primary context.
const (
	Memory Kind = iota
	Module
	Stream
	Event
	Template
	Graph
	Context
	kinds
)

// Control speaks to a stand-in that the process has loaded, or loads it.
type Control struct {
	// Fail makes the nth call from now of a driver function return a code; nth 0
	// clears it. A sticky code makes every later call fail until Reset, as a fault does.
	Fail func(call string, nth int64, code int32)
	// Calls counts the calls of a driver function so far.
	Calls func(call string) int64
	// Live and Created count objects that exist now, and that were ever made.
	Live    func(Kind) int64
	Created func(Kind) int64
	// SetDriverVersion, SetDevices and SetMemory change what the next Open sees:
	// 12040 is CUDA 12.4; memory is in bytes.
	SetDriverVersion func(int32)
	SetDevices       func(int32)
	SetMemory        func(uint64)
	// Reset throws away everything that is alive, and a fault, so that a test can go
	// on after what it caused.
	Reset func()
}

// NewControl loads the stand-in at path, as the driver's user will, and returns
// its controls.
func NewControl(t testing.TB, path string) *Control {
	t.Helper()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	c := &Control{}
	purego.RegisterLibFunc(&c.Fail, handle, "stub_fail")
	purego.RegisterLibFunc(&c.Calls, handle, "stub_calls")
	purego.RegisterLibFunc(&c.Live, handle, "stub_live")
	purego.RegisterLibFunc(&c.Created, handle, "stub_created")
	purego.RegisterLibFunc(&c.SetDriverVersion, handle, "stub_set_driver_version")
	purego.RegisterLibFunc(&c.SetDevices, handle, "stub_set_devices")
	purego.RegisterLibFunc(&c.SetMemory, handle, "stub_set_memory")
	purego.RegisterLibFunc(&c.Reset, handle, "stub_reset")
	return c
}

// NoLeaks fails the test if anything made in the stand-in is still alive.
func (c *Control) NoLeaks(t testing.TB) {
	t.Helper()
	names := [kinds]string{"allocations", "modules", "streams", "events", "captured graphs", "graphs", "contexts"}
	for k := range kinds {
		if n := c.Live(k); n != 0 {
			t.Errorf("%d of %d %s are alive", n, c.Created(k), names[k])
		}
	}
}
