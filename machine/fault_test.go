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
