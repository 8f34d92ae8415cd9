package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
	"mage/unavailable"
)

func TestOutOfMemory(t *testing.T) {
	d, control := openStub(t)
	_, err := d.Alloc(1 << 45)
	var e *cuda.DriverError
	if !errors.Is(err, cuda.ErrOutOfMemory) || !errors.As(err, &e) {
		t.Fatalf("got %v, want out of memory", err)
	}
	if e.Call != "cuMemAlloc_v2" || e.Name != "CUDA_ERROR_OUT_OF_MEMORY" || e.Sticky {
		t.Errorf("error %+v", e)
	}
	if want := "asked for 35184372088832 bytes, 1073741824 of 1073741824 are free"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
	must(d.Alloc(256))(t) // the device still works
	check(t, d.Close())
	control.NoLeaks(t)
}

// TestStickyError makes a kernel fault and checks that every later call returns
// that first error without a call of the driver, and that Close gives all back.
func TestStickyError(t *testing.T) {
	path := cudatest.BuildStub(t)
	control := cudatest.NewControl(t, path)
	d := must(cuda.Options{DriverPath: path}.Open(0))(t)
	t.Cleanup(func() { d.Close() })
	s, e := must(d.NewStream())(t), must(d.NewEvent())(t)
	p := must(d.Alloc(64))(t)
	trap := kernel(t, d, "stub_trap")
	g := must(s.Capture(func() error { return s.FillAsync(p, 0, 64) }))(t)
	check(t, trap.Submit(s)) // the fault is reported later, as on a GPU
	first := s.Synchronize()
	var de *cuda.DriverError
	if !errors.Is(first, cuda.ErrLaunchFailed) || !errors.As(first, &de) || !de.Sticky {
		t.Fatalf("got %v, want a sticky launch failure", first)
	}
	calls := map[string]func() error{
		"cuLaunchKernel":       func() error { return trap.Submit(s) },
		"cuStreamSynchronize":  s.Synchronize,
		"cuEventRecord":        func() error { return s.Record(e) },
		"cuEventSynchronize":   e.Synchronize,
		"cuEventElapsedTime":   func() error { _, err := e.MicrosecondsSince(e); return err },
		"cuMemAlloc_v2":        func() error { _, err := d.Alloc(1); return err },
		"cuMemFree_v2":         func() error { return d.Free(p) },
		"cuMemcpyHtoD_v2":      func() error { return d.Upload(p, []byte{1}) },
		"cuMemcpyDtoH_v2":      func() error { return d.Download([]byte{1}, p) },
		"cuMemsetD8_v2":        func() error { return d.Fill(p, 0, 1) },
		"cuMemsetD8Async":      func() error { return s.FillAsync(p, 0, 1) },
		"cuMemcpyDtoDAsync_v2": func() error { return s.CopyAsync(p, p, 1) },
		"cuGraphLaunch":        func() error { return s.Replay(g) },
		"cuGraphExecDestroy":   g.Destroy,
		"cuStreamDestroy_v2":   s.Destroy,
		"cuEventDestroy_v2":    e.Destroy,
		"cuModuleLoadDataEx":   func() error { _, err := d.Load([]byte(cudatest.KernelsPTX)); return err },
		"cuStreamCreate":       func() error { _, err := d.NewStream(); return err },
		"cuEventCreate":        func() error { _, err := d.NewEvent(); return err },
		"cuCtxSynchronize":     d.Synchronize,
		"cuProfilerStart":      d.ProfilerStart,
	}
	for name, call := range calls {
		before := control.Calls(name)
		if err := call(); !errors.Is(err, cuda.ErrLaunchFailed) {
			t.Errorf("%s after the fault: %v", name, err)
		}
		if control.Calls(name) != before {
			t.Errorf("%s reached the driver after the fault", name)
		}
	}
	if err := d.Close(); err != nil {
		t.Errorf("close after a reported fault: %v", err)
	}
	if control.Calls("cuDevicePrimaryCtxReset_v2") != 1 {
		t.Error("the lost context was not reset")
	}
	control.NoLeaks(t)
	_, err := cuda.Options{DriverPath: path}.Open(0)
	if _, missing := unavailable.As(err); missing || !errors.Is(err, cuda.ErrLaunchFailed) || !strings.Contains(err.Error(), "new process") {
		t.Errorf("opening again in the process that faulted: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := s.Synchronize(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

// TestUnreportedFault: work that failed and that nobody waited for is an error of Close.
func TestUnreportedFault(t *testing.T) {
	d, control := openStub(t)
	s := must(d.NewStream())(t)
	check(t, kernel(t, d, "stub_trap").Submit(s))
	if err := d.Close(); !errors.Is(err, cuda.ErrLaunchFailed) {
		t.Errorf("close: %v, want the launch failure", err)
	}
	control.NoLeaks(t)
}

func TestIllegalAddress(t *testing.T) {
	d, _ := openStub(t)
	s := must(d.NewStream())(t)
	p := must(d.Alloc(16))(t)
	check(t, kernel(t, d, "stub_fill", gpu.Pointer(p), gpu.Float32(1), gpu.Uint32(5)).Submit(s))
	if err := s.Synchronize(); !errors.Is(err, cuda.ErrIllegalAddress) {
		t.Errorf("a kernel wrote past its buffer: %v", err)
	}
}

func TestLaunchOutOfResources(t *testing.T) {
	d, control := openStub(t)
	s := must(d.NewStream())(t)
	l := kernel(t, d, "stub_empty")
	control.Fail("cuLaunchKernel", 1, 701)
	err := l.Submit(s)
	if !errors.Is(err, cuda.ErrOutOfResources) || !strings.Contains(err.Error(), "launch stub_empty: cuLaunchKernel: ") {
		t.Errorf("got %v", err)
	}
	check(t, l.Submit(s)) // not sticky
}

func TestMissingGraphSymbols(t *testing.T) {
	d, control := openStub(t, "HIDE_GRAPHS")
	s := must(d.NewStream())(t)
	called := false
	_, err := s.Capture(func() error { called = true; return nil })
	e, ok := unavailable.As(err)
	if !ok || called {
		t.Fatalf("capture without graphs: %v (ran: %v)", err, called)
	}
	if e.What != "CUDA graphs" || !strings.Contains(e.Reason, "cuStreamBeginCapture_v2") ||
		!strings.Contains(e.Reason, "CUDA 13.0") || e.Remedy == "" {
		t.Errorf("%+v", e)
	}
	check(t, kernel(t, d, "stub_empty").Submit(s))
	check(t, s.Synchronize())
	check(t, d.Close())
	control.NoLeaks(t)
}

func TestMissingProfilerSymbols(t *testing.T) {
	d, _ := openStub(t, "HIDE_PROFILER")
	if _, ok := unavailable.As(d.ProfilerStart()); !ok {
		t.Error("the profiler control is not unavailable")
	}
}

func TestOlderNames(t *testing.T) {
	d, control := openStub(t, "HIDE_V2")
	s := must(d.NewStream())(t)
	a, b := must(d.NewEvent())(t), must(d.NewEvent())(t)
	check(t, s.Record(a))
	check(t, s.Record(b))
	must(b.MicrosecondsSince(a))(t)
	if control.Calls("cuEventElapsedTime") != 1 {
		t.Error("cuEventElapsedTime was not called")
	}
	kernel(t, d, "stub_fill", gpu.Pointer(0), gpu.Float32(0), gpu.Uint32(0)) // arguments unchecked
}

func TestPTXTooNew(t *testing.T) {
	path := cudatest.BuildStub(t)
	cudatest.NewControl(t, path).SetDriverVersion(12040)
	d := must(cuda.Options{DriverPath: path}.Open(0))(t)
	defer d.Close()
	_, err := d.Load([]byte(".version 9.0\n.target sm_90\n.address_size 64\n"))
	if !errors.Is(err, cuda.ErrUnsupportedPTX) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the PTX is 9.0 (CUDA 13.0)",
		"the driver understands CUDA 12.4", "update the driver"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	must(d.Load([]byte(".version 8.4\n.target sm_90\n.address_size 64\n")))(t)
}

func TestRejectedImages(t *testing.T) {
	d, control := openStub(t)
	if _, err := d.Load([]byte(".version 8.0\nsyntax error here\n")); !errors.Is(err, cuda.ErrInvalidPTX) ||
		!strings.Contains(err.Error(), "Parsing error near 'syntax'") {
		t.Errorf("the compiler's log is missing: %v", err)
	}
	if _, err := d.Load([]byte("\x7fELF....")); !errors.Is(err, cuda.ErrInvalidImage) {
		t.Errorf("a cubin: %v", err)
	}
	if _, err := d.Load(nil); err == nil {
		t.Error("loaded nothing")
	}
	m := must(d.Load([]byte(cudatest.KernelsPTX)))(t)
	if _, err := m.Function("gone"); !errors.Is(err, cuda.ErrNotFound) || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("an unknown function: %v", err)
	}
	check(t, d.Close())
	control.NoLeaks(t)
}

func TestCaptureFails(t *testing.T) {
	d, control := openStub(t)
	s := must(d.NewStream())(t)
	l := kernel(t, d, "stub_empty")
	wrong := errors.New("wrong")
	if g, err := s.Capture(func() error { _ = l.Submit(s); return wrong }); !errors.Is(err, wrong) || g != nil {
		t.Errorf("capture: %v, %v", g, err)
	}
	// Waiting inside a capture invalidates it, whether or not f says so.
	for _, report := range []bool{true, false} {
		_, err := s.Capture(func() error {
			if err := s.Synchronize(); report {
				return err
			}
			return nil
		})
		if !errors.Is(err, cuda.ErrCaptureUnsupported) && !errors.Is(err, cuda.ErrCaptureInvalidated) {
			t.Errorf("a wait inside a capture: %v", err)
		}
	}
	func() {
		defer func() { recover() }()
		_, _ = s.Capture(func() error { panic("inside") })
	}()
	control.Fail("cuGraphInstantiateWithFlags", 1, 1)
	if _, err := s.Capture(func() error { return l.Submit(s) }); err == nil {
		t.Error("instantiation failed silently")
	}
	check(t, l.Submit(s)) // nothing is left capturing
	check(t, s.Synchronize())
	must(s.Capture(func() error { return l.Submit(s) }))(t)
	if n := control.Live(cudatest.Template); n != 0 {
		t.Errorf("%d captured graphs are alive", n)
	}
	check(t, d.Close())
	control.NoLeaks(t)
}

func TestOpenFails(t *testing.T) {
	path := cudatest.BuildStub(t)
	control := cudatest.NewControl(t, path)
	o := cuda.Options{DriverPath: path}
	reason := func(ordinal int, want string) {
		t.Helper()
		_, err := o.Open(ordinal)
		if e, ok := unavailable.As(err); !ok || !strings.Contains(err.Error(), want) || e.Remedy == "" {
			t.Errorf("open: %v, want unavailable with %q and a remedy", err, want)
		}
	}
	reason(1, "GPU 1 is unavailable: the driver reports 1")
	reason(-1, "GPU -1")
	control.Fail("cuInit", 1, 803)
	reason(0, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")
	control.Fail("cuDevicePrimaryCtxRetain", 1, 46)
	reason(0, "exclusive mode")
	control.Fail("cuDeviceGetAttribute", 3, 999)
	if _, err := o.Open(0); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_999") {
		t.Errorf("a failing attribute: %v", err)
	}
	control.SetDevices(0)
	reason(0, "CUDA_ERROR_NO_DEVICE")
	if _, err := o.Count(); err == nil {
		t.Error("counted devices that are not there")
	}
	control.NoLeaks(t)

	missing := cuda.Options{DriverPath: cudatest.BuildStub(t, "HIDE_CORE")}
	_, err := missing.Open(0)
	if e, ok := unavailable.As(err); !ok || !strings.Contains(e.Reason, "cuModuleLoadDataEx") || !strings.Contains(e.Reason, "CUDA 13.0") {
		t.Errorf("a driver without a core function: %v", err)
	}
	none := cuda.Options{DriverPath: t.TempDir() + "/libcuda.so.1"}
	for _, f := range []func() error{
		func() error { _, err := none.Open(0); return err },
		func() error { _, err := none.Count(); return err },
		func() error { _, err := none.DriverVersion(); return err },
	} {
		if e, ok := unavailable.As(f()); !ok || !strings.Contains(e.Remedy, "MAGE_LIBCUDA") {
			t.Errorf("without a driver: %v", f())
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("MAGE_LIBCUDA", cudatest.BuildStub(t))
	if n := must(cuda.Count())(t); n != 1 {
		t.Errorf("%d devices", n)
	}
	if v := must(cuda.DriverVersion())(t); v != "13.0" {
		t.Errorf("driver version %s", v)
	}
	d := must(cuda.Open(0))(t)
	check(t, d.Close())
}
