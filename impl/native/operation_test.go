package native

import (
	"errors"
	"strings"
	"testing"

	"mage/contract"
	"mage/timing"
)

func TestSetInputsChecks(t *testing.T) {
	test := small("neighbor")
	in := test.inputs(t, 1)
	op := openCase(t, open(t, Options{Device: newFakeDevice()}, builtin(t)), test, in)
	var broken *contract.Error
	if err := op.SetInputs(contract.Tensors{"a": in["a"]}); !errors.As(err, &broken) {
		t.Errorf("error = %v", err)
	}
}

type fakeTimer struct{ requests []timing.Request }

func (f *fakeTimer) Measure(submit func() error, req timing.Request) (timing.Reading, error) {
	f.requests = append(f.requests, req)
	return timing.Reading{Samples: []float64{1}}, submit()
}

func TestMeasureGoesThroughTheTimer(t *testing.T) {
	d := newFakeDevice()
	stream := &fakeStream{device: d}
	timer := &fakeTimer{}
	test := small("gelu")
	in := test.inputs(t, 1)
	op := openCase(t, open(t, Options{Device: d, Stream: stream, Timer: timer}, builtin(t)), test, in)
	req := timing.Request{Mode: timing.Mode{Kind: timing.Span, N: 1}, Samples: 7}
	if r, err := op.Measure(req); err != nil || len(r.Samples) != 1 || timer.requests[0] != req || len(stream.queue) != 1 {
		t.Errorf("reading %+v, error %v, requests %+v, %d launches", r, err, timer.requests, len(stream.queue))
	}
	untimed := openCase(t, open(t, Options{Device: d}, builtin(t)), test, in)
	if _, err := untimed.Measure(req); !isUnavailable(err, "without a timer") {
		t.Errorf("error = %v", err)
	}
}

func TestRunReportsTheDevicesError(t *testing.T) {
	d := newFakeDevice()
	test := small("gelu")
	op := openCase(t, open(t, Options{Device: d}, builtin(t)), test, test.inputs(t, 1))
	d.fault = errors.New("CUDA_ERROR_ILLEGAL_ADDRESS (cuStreamSynchronize)")
	if err := op.Run(); err == nil || !strings.Contains(err.Error(), "running cuda/first gelu: CUDA_ERROR_ILLEGAL_ADDRESS") {
		t.Errorf("error = %v", err)
	}
}

func TestNewGroupsByNameAndRefusesDuplicates(t *testing.T) {
	d := newFakeDevice()
	ks := append(builtin(t), example(t))
	all, err := New(Options{Device: d, DeviceID: "cuda:0"}, ks)
	if err != nil || len(all) != 2 || all[0].Name() != "cuda/first" || all[1].Name() != "cuda/vector" {
		t.Fatalf("%v, %v", all, err)
	}
	if all[0].LaunchPath() != "driver" || all[0].Device() != "cuda:0" {
		t.Errorf("%s on %s", all[0].LaunchPath(), all[0].Device())
	}
	if s, err := all[0].State(); err != nil || len(s.Throttle) != 1 {
		t.Errorf("state = %+v, %v", s, err)
	}
	if _, err := New(Options{Device: d}, append(ks, example(t))); err == nil {
		t.Error("the same kernel twice is accepted")
	}
}
