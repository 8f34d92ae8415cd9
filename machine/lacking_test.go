package machine

import (
	"errors"
	"strings"
	"testing"

	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
	"mage/kernels/kernelstest"
	"mage/unavailable"
)

// TestWithoutGraphs: an older driver offers the other modes.
func TestWithoutGraphs(t *testing.T) {
	c := standIn(t, "HIDE_GRAPHS")
	m := openWith(t, goodKernels(t))
	r, out := run(t, m, spec(t, 2, `"span", "batch:3", "graph:3", "submit", "latency"`, "mine/a", "mine/b"), nil)
	if out.Failures != 0 {
		t.Errorf("%d failures", out.Failures)
	}
	for n := range 2 {
		got := lines(r, "mine/a", n)
		if got["graph:3"] != 0 || got["span"] != 2 || got["batch:3"] != 2 || got["submit"] != 2 || got["latency"] != 2 {
			t.Errorf("lines %v", got)
		}
		u := entry(t, r, "mine/a", n).Unavailable
		if len(u) != 1 || !strings.Contains(u[0].What, "graphs") || !strings.Contains(u[0].Reason, "does not have cuStreamBeginCapture_v2") || u[0].Remedy == "" {
			t.Errorf("unavailable %+v", u)
		}
	}
	closeWithoutLeaks(t, m, c)
}

// TestPTXNewerThanTheDriver: such a kernel is unavailable, and what to do about it
// is said; one that the driver understands runs beside it.
func TestPTXNewerThanTheDriver(t *testing.T) {
	c := standIn(t)
	c.SetDriverVersion(12040)
	dir := goodKernels(t)
	kernelstest.Write(t, dir, "mine/new", kernelstest.Gelu, "9.0")
	m := openWith(t, dir)
	r, out := run(t, m, spec(t, 1, `"span"`, "mine/a", "mine/new"), nil)
	if out.Failures != 0 || total(lines(r, "mine/a", 0)) != 1 {
		t.Errorf("%d failures, lines %v", out.Failures, lines(r, "mine/a", 0))
	}
	u := entry(t, r, "mine/new", 0).Unavailable
	if len(u) != 1 {
		t.Fatalf("unavailable %+v", u)
	}
	for _, want := range []string{"cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
		"the PTX is 9.0 (CUDA 13.0), the driver understands CUDA 12.4", "update the driver"} {
		if !strings.Contains(u[0].Reason, want) {
			t.Errorf("the reason %q lacks %q", u[0].Reason, want)
		}
	}
	closeWithoutLeaks(t, m, c)
}

// TestNoUsableGPU: what keeps the GPU from being opened is the reason that stands
// in the record; kernels are executed on the simulator, and the CPU is measured.
func TestNoUsableGPU(t *testing.T) {
	for _, k := range []struct {
		name    string
		define  string
		prepare func(*cudatest.Control)
		want    []string
	}{
		{"no device", "", func(c *cudatest.Control) { c.SetDevices(0) }, []string{"CUDA_ERROR_NO_DEVICE", "cuInit", "CUDA_VISIBLE_DEVICES"}},
		{"cuInit fails", "", func(c *cudatest.Control) { c.Fail("cuInit", 1, 803) }, []string{"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cuInit", "reboot"}},
		{"exclusive", "", func(c *cudatest.Control) { c.Fail("cuDevicePrimaryCtxRetain", 1, 46) }, []string{"CUDA_ERROR_DEVICE_UNAVAILABLE", "cuDevicePrimaryCtxRetain", "exclusive"}},
		{"an ancient driver", "HIDE_CORE", nil, []string{"does not have cuModuleLoadDataEx", "update the NVIDIA driver"}},
	} {
		t.Run(k.name, func(t *testing.T) {
			var defines []string
			if k.define != "" {
				defines = []string{k.define}
			}
			c := standIn(t, defines...)
			if k.prepare != nil {
				k.prepare(c)
			}
			m := openWith(t, goodKernels(t))
			r, out := run(t, m, spec(t, 2, `"latency"`, "cuda/first"), nil)
			if out.Failures != 0 || total(lines(r, "cpu/naive", 1)) != 2 {
				t.Errorf("%d failures, CPU lines %v", out.Failures, lines(r, "cpu/naive", 1))
			}
			if a := r.Record.Arms[1]; a.ID != "cuda/first@driver" || a.Device != "simt:0" || entry(t, r, "cuda/first", 0).Counters == nil {
				t.Errorf("cuda/first was not executed on the simulator: %+v", a)
			}
			lacks := r.Record.Unavailable
			if len(lacks) != 1 {
				t.Fatalf("unavailable %+v", lacks)
			}
			all := (&unavailable.Error{What: lacks[0].What, Reason: lacks[0].Reason, Remedy: lacks[0].Remedy}).Error()
			for _, w := range k.want {
				if !strings.Contains(all, w) {
					t.Errorf("%q lacks %q", all, w)
				}
			}
			if strings.Contains(all, "\n") {
				t.Errorf("more than one line: %q", all)
			}
			closeWithoutLeaks(t, m, c)
		})
	}
}

// TestAskedForGPU: the first GPU is used if there is one, any other was asked for.
func TestAskedForGPU(t *testing.T) {
	c := standIn(t)
	c.SetDevices(2)
	m, err := Open(t.Context(), Options{GPU: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Devices; len(d) != 2 || d[1].ID != "cuda:1" {
		t.Errorf("devices %+v", d)
	}
	closeWithoutLeaks(t, m, c)
	for _, devices := range []int32{2, 0} {
		c.SetDevices(devices)
		if _, err := Open(t.Context(), Options{GPU: 2}); err == nil || !strings.HasPrefix(err.Error(), "GPU 2: ") {
			t.Errorf("with %d GPUs: %v", devices, err)
		}
		c.NoLeaks(t)
	}
}

// TestGPUTooFullToOpen: a GPU that is there but has no memory left is an error
// that the user should mend, and it is closed again.
func TestGPUTooFullToOpen(t *testing.T) {
	c := standIn(t)
	c.SetMemory(1 << 20)
	_, err := Open(t.Context(), Options{})
	if !errors.Is(err, cuda.ErrOutOfMemory) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "--simulate") {
		t.Errorf("%v", err)
	}
	c.NoLeaks(t)
	if m, err := Open(t.Context(), Options{Simulate: true}); err != nil {
		t.Error(err)
	} else {
		closeWithoutLeaks(t, m, c)
	}
}

// TestOpeningFails: every call that Open makes fails once; what was opened before
// is closed, and the error names the call.
func TestOpeningFails(t *testing.T) {
	c := standIn(t)
	for _, call := range []string{"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuCtxGetCurrent", "cuDevicePrimaryCtxRetain",
		"cuCtxSetCurrent", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuStreamCreate", "cuEventCreate", "cuMemAlloc_v2"} {
		for nth := int64(1); nth <= 2 && (nth == 1 || !testing.Short()); nth++ {
			before := c.Calls(call)
			c.Fail(call, nth, invalidValue)
			m, err := Open(t.Context(), Options{})
			if err == nil {
				for _, n := range m.Notices {
					if strings.Contains(n.Reason, call) {
						err = n
					}
				}
				if e := m.Close(); e != nil && err == nil {
					err = e
				}
			}
			if reached := c.Calls(call)-before >= nth; reached && (err == nil || !strings.Contains(err.Error(), call)) {
				t.Errorf("%s, call %d: %v", call, nth, err)
			}
			c.Fail(call, 0, 0)
			c.NoLeaks(t)
			c.Reset()
		}
	}
}
