package cuda_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
)

// TestEveryFailure makes each call of each driver function in a small program
// fail in turn, and checks that the program reports it, does not crash and leaves
// nothing alive.
func TestEveryFailure(t *testing.T) {
	path := cudatest.BuildStub(t)
	control := cudatest.NewControl(t, path)
	program := func() (err error) {
		d, err := cuda.Options{DriverPath: path}.Open(0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		return exercise(d)
	}
	check(t, program())
	control.NoLeaks(t)
	names := []string{"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid_v2",
		"cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxGetCurrent",
		"cuCtxSetCurrent", "cuCtxSynchronize", "cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
		"cuMemsetD8_v2", "cuMemsetD8Async", "cuMemcpyDtoDAsync_v2", "cuModuleLoadDataEx",
		"cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuLaunchKernel", "cuStreamCreate",
		"cuStreamSynchronize", "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime_v2",
		"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphGetNodes", "cuGraphInstantiateWithFlags",
		"cuGraphUpload", "cuGraphLaunch", "cuProfilerStart", "cuProfilerStop"}
	// What a failing one of these was to give back stays alive, of course.
	destructors := []string{"cuMemFree_v2", "cuModuleUnload", "cuStreamDestroy_v2", "cuEventDestroy_v2",
		"cuGraphDestroy", "cuGraphExecDestroy", "cuDevicePrimaryCtxRelease_v2"}
	names = append(names, destructors...)
	for _, name := range names {
		before := control.Calls(name)
		check(t, program())
		each := control.Calls(name) - before
		if each == 0 {
			t.Errorf("the program does not call %s", name)
		}
		if testing.Short() {
			each = min(each, 1)
		}
		for nth := int64(1); nth <= each; nth++ {
			for _, code := range []int32{999, 719} { // an ordinary failure, a lost context
				t.Run(fmt.Sprintf("%s/%d/%d", name, nth, code), func(t *testing.T) {
					control.Fail(name, nth, code)
					if err := program(); err == nil {
						t.Error("nothing was reported")
					}
					if !slices.Contains(destructors, name) {
						control.NoLeaks(t)
					}
					control.Fail(name, 0, 0)
					control.Reset()
				})
			}
		}
	}
}

// exercise calls everything that a device offers, and leaves freeing to Close
// where nothing else tests it.
func exercise(d *cuda.Device) error {
	p, err := d.Alloc(64)
	if err != nil {
		return err
	}
	q, err := d.Alloc(64)
	if err != nil {
		return err
	}
	m, err := d.Load([]byte(cudatest.KernelsPTX))
	if err != nil {
		return err
	}
	f, err := m.Function("stub_copy")
	if err != nil {
		return err
	}
	l, err := f.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, DynamicShared: 64 << 10},
		gpu.Pointer(p), gpu.Pointer(q), gpu.Uint32(16))
	if err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	start, err := d.NewEvent()
	if err != nil {
		return err
	}
	end, err := d.NewEvent()
	if err != nil {
		return err
	}
	g, err := s.Capture(func() error { return l.Submit(s) })
	if err != nil {
		return err
	}
	back := make([]byte, 64)
	for _, step := range []func() error{
		func() error { _, err := f.Attributes(); return err },
		func() error { return d.Upload(q, bytesOf(1, 2, 3, 4)) },
		func() error { return d.Fill(p, 0, 64) },
		d.ProfilerStart,
		func() error { return s.Record(start) },
		func() error { return l.Submit(s) },
		func() error { return s.FillAsync(p, 1, 64) },
		func() error { return s.CopyAsync(p, q, 64) },
		func() error { return s.Replay(g) },
		func() error { return s.Record(end) },
		end.Synchronize,
		s.Synchronize,
		d.ProfilerStop,
		func() error { _, err := end.MicrosecondsSince(start); return err },
		func() error { return d.Download(back, p) },
		func() error { return d.Free(q) },
		end.Destroy,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if floats(back)[3] != 4 {
		return fmt.Errorf("read back %v", floats(back))
	}
	return nil
}
