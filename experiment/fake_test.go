package experiment

import (
	"bytes"
	"errors"
	"fmt"

	"mage/contract"
	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/impl"
	"mage/tensor"
	"mage/timing"
	"mage/unavailable"
)

// fake is an implementation that computes by the reference and takes the time
// that it is told. Its hooks make it misbehave.
type fake struct {
	name    string
	us      float64
	opened  int
	closed  int
	lacks   map[timing.Kind]bool
	openErr error
	runErr  error
	// measured is called before each measurement; its error is returned.
	measured func(*fakeOperation, timing.Request) error
	// states are returned one after the other, the last one for ever.
	states []gpu.State
	sha    string
}

func (f *fake) Name() string       { return f.name }
func (f *fake) LaunchPath() string { return "go" }
func (f *fake) Device() string     { return "cpu" }
func (f *fake) State() (gpu.State, error) {
	if len(f.states) == 0 {
		return gpu.State{}, nil
	}
	s := f.states[0]
	if len(f.states) > 1 {
		f.states = f.states[1:]
	}
	return s, nil
}

func (f *fake) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	if f.openErr != nil {
		return nil, f.openErr
	}
	f.opened++
	op := &fakeOperation{fake: f, c: c, d: d, in: contract.Tensors{},
		out: make([]byte, c.Output(d).Bytes()+2*gate.GuardBytes)}
	return op, op.SetInputs(in)
}

type fakeOperation struct {
	*fake
	c   contract.Contract
	d   contract.Dims
	in  contract.Tensors
	out []byte
}

func (o *fakeOperation) SetInputs(in contract.Tensors) error {
	for n, t := range in {
		o.in[n] = t.Clone()
	}
	return nil
}

func (o *fakeOperation) Poison(v byte) error {
	copy(o.out, bytes.Repeat([]byte{v}, len(o.out)))
	return nil
}

func (o *fakeOperation) Run() error {
	if o.runErr != nil {
		return o.runErr
	}
	out := tensor.New(o.c.Output(o.d))
	v := make([]float32, out.Len())
	for i, x := range o.c.Reference(o.d, o.in) {
		v[i] = float32(x)
	}
	out.PutFloat32s(v)
	copy(o.out[gate.GuardBytes:], out.Data)
	return nil
}

func (o *fakeOperation) Output() ([]byte, error)           { return bytes.Clone(o.out), nil }
func (o *fakeOperation) Inputs() (contract.Tensors, error) { return o.in, nil }
func (o *fakeOperation) Identity() impl.Identity {
	return impl.Identity{BinarySHA256: o.sha, BinaryKind: "ptx"}
}
func (o *fakeOperation) Close() error { o.closed++; return nil }
func (o *fakeOperation) Measure(r timing.Request) (timing.Reading, error) {
	if o.lacks[r.Mode.Kind] {
		return timing.Reading{}, unavailable.Newf(r.Mode.String()+" on fake", "it has none")
	}
	if err := o.Run(); err != nil {
		return timing.Reading{}, err
	}
	if o.measured != nil {
		if err := o.measured(o, r); err != nil {
			return timing.Reading{}, err
		}
	}
	samples := make([]float64, 5)
	for i := range samples {
		samples[i] = o.us * (1 + 0.001*float64(i))
	}
	return timing.Reading{Instrument: timing.HostClock, Samples: samples, Operations: 1}, nil
}

func lab(implementations ...impl.Implementation) *Lab {
	return &Lab{
		Devices:         []evidence.Device{{ID: "cpu", Info: gpu.Info{Backend: "cpu", Name: "fake"}}},
		Implementations: implementations,
		Lacking:         map[string]*unavailable.Error{"cuda/first": unavailable.New("GPU", "no driver", "install one")},
		Calibrate: func(device string) (timing.Calibration, error) {
			if device != "cpu" {
				return timing.Calibration{}, fmt.Errorf("no %s", device)
			}
			return timing.Calibration{FlushProved: true, ClockResolutionUS: 0.01}, nil
		},
	}
}

var errBroken = errors.New("the device broke")

const fakeSpec = `
namespace = "test"
implementations = ["fake/a", "fake/b", "cuda/first"]
modes = ["latency", "span"]
rounds = 3
repeats = 2
[[case]]
contract = "gelu"
shapes = ["small"]
[[case]]
contract = "matmul"
shapes = ["small"]
`
