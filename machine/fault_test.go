package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mage/evidence"
	"mage/experiment"
	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
	"mage/kernels/kernelstest"
	"mage/unavailable"
)

// Codes of cuda.h that the tests inject.
const (
	invalidValue   = 1
	outOfMemory    = 2
	illegalAddress = 700
)

// hook is a Progress that calls a function before every step.
type hook struct {
	experiment.Silent
	step  func(what string)
	round int
}

func (h *hook) Step(what string)                            { h.step(what) }
func (h *hook) Round(n, _ int, _ []string, _ time.Duration) { h.round = n }
func (h *hook) Case(int, string)                            { h.round = 0 }

// on returns a hook that calls f once, when a step begins with prefix in a round.
func on(round int, prefix string, f func()) *hook {
	h := &hook{}
	done := false
	h.step = func(what string) {
		if !done && h.round == round-1 && strings.HasPrefix(what, prefix) {
			done = true
			f()
		}
	}
	return h
}

// TestOneArmWithoutMemory: the allocation of one arm fails, in each of its
// places; the others and the next case go on.
func TestOneArmWithoutMemory(t *testing.T) {
	c := standIn(t)
	for nth := int64(1); nth <= 3; nth++ { // a, b, out
		m := openWith(t, goodKernels(t))
		p := on(1, "gate mine/a", func() { c.Fail("cuMemAlloc_v2", nth, outOfMemory) })
		r, out := run(t, m, spec(t, 2, `"span"`, "mine/a", "mine/b"), p)
		if out.Failures != 1 {
			t.Errorf("allocation %d: %d failures, want 1", nth, out.Failures)
		}
		wantError(t, entry(t, r, "mine/a", 0), "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory): asked for", "are free")
		for _, ok := range []map[string]int{lines(r, "mine/b", 0), lines(r, "cpu/naive", 0), lines(r, "mine/a", 1)} {
			if total(ok) != 2 {
				t.Errorf("allocation %d: an arm that had its memory has %v lines", nth, ok)
			}
		}
		closeWithoutLeaks(t, m, c)
	}
}

// TestFailingLaunch: a launch that the driver refuses, wherever it stands in the
// arm's life, ends that arm alone.
func TestFailingLaunch(t *testing.T) {
	c := standIn(t)
	nths := []int64{1, 2, 4, 7, 12, 20, 40}
	if testing.Short() {
		nths = []int64{1, 7, 20}
	}
	for _, nth := range nths {
		m := openWith(t, goodKernels(t))
		p := on(1, "gate mine/a", func() { c.Fail("cuLaunchKernel", nth, invalidValue) })
		r, out := run(t, m, spec(t, 3, `"span", "batch:3", "graph:3", "latency"`, "mine/a", "mine/b"), p)
		failed := ""
		for _, e := range r.Record.Entries {
			if e.Error == "" {
				continue
			}
			failed = e.Arm
			wantError(t, e, "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (invalid argument)")
			if n := total(lines(r, strings.TrimSuffix(e.Arm, "@driver"), 1)); n != 12 {
				t.Errorf("launch %d: %s has %d lines in the next case, want 12", nth, e.Arm, n)
			}
		}
		if out.Failures != 1 || !strings.HasPrefix(failed, "mine/") {
			t.Errorf("launch %d: %d failures, the last of %s", nth, out.Failures, failed)
		}
		if n := total(lines(r, "cpu/naive", 0)); n != 9 { // it has no graphs
			t.Errorf("launch %d: the CPU has %d lines, want 9", nth, n)
		}
		closeWithoutLeaks(t, m, c)
	}
}

// TestStickyFault: an illegal address in round 2 costs every arm of the GPU the
// rest of the run, says so in each entry, and costs the CPU nothing.
func TestStickyFault(t *testing.T) {
	c := standIn(t)
	m := openWith(t, goodKernels(t))
	p := on(2, "mine/b@driver span", func() { c.Fail("cuEventSynchronize", 2, illegalAddress) })
	r, out := run(t, m, spec(t, 3, `"span", "graph:3", "latency"`, "mine/a", "mine/b"), p)
	if out.Failures != 4 {
		t.Errorf("%d failures, want two arms on two cases", out.Failures)
	}
	for n := range 2 {
		for _, name := range []string{"mine/a", "mine/b"} {
			wantError(t, entry(t, r, name, n), "cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)")
		}
		if got := total(lines(r, "cpu/naive", n)); got != 6 {
			t.Errorf("case %d: the CPU has %d lines, want all 6", n, got)
		}
	}
	if got := lines(r, "mine/a", 0); got["graph:3"] != 1 {
		t.Errorf("round 1 of mine/a is not whole: %v", got)
	}
	if got := total(lines(r, "mine/a", 1)) + total(lines(r, "mine/b", 1)); got != 0 {
		t.Errorf("%d lines of the GPU after its fault", got)
	}
	if err := m.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	c.NoLeaks(t)

	// The process has lost its GPU for good, and is told so.
	if _, err := Open(t.Context(), Options{}); !errors.Is(err, cuda.ErrIllegalAddress) || !strings.Contains(err.Error(), "new process") {
		t.Errorf("opening the GPU again: %v", err)
	}
	c.Reset()
}

// TestFaultingKernel: the kernel itself faults, so that submitting succeeds and
// a later call tells.
func TestFaultingKernel(t *testing.T) {
	c := standIn(t)
	dir := goodKernels(t)
	kernelstest.Write(t, dir, "mine/fault", kernelstest.Fault, "")
	m := openWith(t, dir)
	r, out := run(t, m, spec(t, 1, `"span"`, "mine/a", "mine/fault"), nil)
	if out.Failures != 4 { // mine/a is open when the fault happens
		t.Errorf("%d failures", out.Failures)
	}
	for _, name := range []string{"mine/a", "mine/fault"} {
		wantError(t, entry(t, r, name, 0), "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)")
	}
	closeWithoutLeaks(t, m, c)
	c.Reset()
}

// TestEveryCallFailsOnce runs the same small experiment over and over, with each
// call of the driver failing once, in each of its first places. The record must
// be whole whatever fails, and nothing may leak.
func TestEveryCallFailsOnce(t *testing.T) {
	c := standIn(t)
	dir := goodKernels(t)
	s := spec(t, 1, `"span", "graph:2", "submit"`, "mine/a", "mine/b")
	s.Cases[0].Dims = s.Cases[0].Dims[:1]
	calls := []string{"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemsetD8_v2", "cuModuleLoadDataEx", "cuModuleGetFunction",
		"cuFuncGetAttribute", "cuStreamSynchronize", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime_v2",
		"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphGetNodes", "cuGraphInstantiateWithFlags", "cuGraphUpload",
		"cuGraphLaunch", "cuGraphDestroy", "cuGraphExecDestroy", "cuMemFree_v2", "cuModuleUnload"}
	codes, nths := []int32{invalidValue, illegalAddress}, []int64{1, 4}
	if testing.Short() {
		codes, nths = codes[1:], nths[:1]
	}
	for _, call := range calls {
		for _, code := range codes {
			for _, nth := range nths {
				if code == illegalAddress && nth > 1 {
					continue // after a fault every call fails alike, wherever it was
				}
				m := openWith(t, dir)
				before := c.Calls(call)
				p := on(1, "gate mine/a", func() { before = c.Calls(call); c.Fail(call, nth, code) })
				r, out := run(t, m, s, p)
				reached := c.Calls(call)-before >= nth
				c.Fail(call, 0, 0)
				noted := slices.ContainsFunc(r.Events, func(e evidence.Event) bool { return strings.Contains(e.Detail, strings.TrimSuffix(call, "_v2")) })
				if reached && (out.Failures == 0 && !noted) {
					t.Errorf("%s, call %d, code %d: the record knows nothing of it", call, nth, code)
				}
				for _, e := range r.Record.Entries {
					if e.Error != "" && (!strings.Contains(e.Error, strings.TrimSuffix(call, "_v2")) || !strings.Contains(e.Error, ": CUDA_ERROR_")) {
						t.Errorf("%s, call %d, code %d: the error of %s is %q", call, nth, code, e.Arm, e.Error)
					}
				}
				if n := total(lines(r, "cpu/naive", 0)); n != 1 {
					t.Errorf("%s, call %d, code %d: the CPU has %d lines", call, nth, code, n)
				}
				err := m.Close()
				if err != nil && !strings.Contains(err.Error(), call) {
					t.Errorf("%s, call %d, code %d: close: %v", call, nth, code, err)
				}
				// What the driver refused to free is lost; a sticky fault frees all.
				if code == illegalAddress || !freeing(call) {
					if c.NoLeaks(t); live(c) > 0 {
						t.Errorf("%s, call %d, code %d leaks", call, nth, code)
					}
				}
				c.Reset()
			}
		}
	}
}

func live(c *cudatest.Control) (n int64) {
	for k := cudatest.Memory; k <= cudatest.Context; k++ {
		n += c.Live(k)
	}
	return n
}

func freeing(call string) bool {
	return slices.Contains([]string{"cuGraphDestroy", "cuGraphExecDestroy", "cuMemFree_v2", "cuModuleUnload", "cuStreamEndCapture"}, call)
}

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
