package capture_test

import (
	"strings"
	"testing"

	"mage/capture"
)

// TestPerOperation: two operations of two kernels, with a fill each.
func TestPerOperation(t *testing.T) {
	a, b := capture.Dim{1, 1, 1}, capture.Dim{2, 1, 1}
	kernels := []capture.Kernel{kernel("k", 2, a, 7), kernel("r", 6, b, 7), kernel("k", 4, a, 7), kernel("r", 8, b, 7)}
	kernels[0].Counters = map[string]capture.Counter{"x.sum": {Value: 5, Unit: "B"}}
	r := &capture.Result{Kernels: kernels, Calls: []capture.APICall{{Name: "cuLaunchKernel"}},
		Copies: []capture.Copy{{Kind: "fill", Bytes: 100}, {Kind: "fill", Bytes: 100}}}
	c := &capture.Capture{Backend: "cupti", Outcome: capture.Complete}
	o := c.PerOperation(r, 2)
	if len(o.Launches) != 2 || *o.Launches[0].MeanUS != 3 || *o.Launches[1].MeanUS != 7 || *o.KernelUS != 10 || o.Note != "" {
		t.Errorf("%+v", o)
	}
	if *o.Copies != 1 || *o.CopiedBytes != 100 || o.Allocations != nil || o.Launches[0].Counters["x.sum"].Value != 5 {
		t.Errorf("%+v", o)
	}

	kernels[3].Grid = a
	if o := c.PerOperation(r, 2); o.Launches != nil || !strings.Contains(o.Note, "operation 2 launched other kernels") || *o.KernelUS != 10 {
		t.Errorf("%+v", o)
	}
	r.Kernels = kernels[:3]
	if o := c.PerOperation(r, 2); o.Launches != nil || !strings.Contains(o.Note, "3 launches of 2 operations") {
		t.Errorf("%+v", o)
	}
	kernels[0].DurationUS, r.Calls = nil, nil
	if o := c.PerOperation(r, 3); o.KernelUS != nil || o.Copies != nil {
		t.Errorf("%+v", o)
	}
}
