package simt_test

import (
	"fmt"
	"os"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/simt"
	"mage/input"
	"mage/kernels/triton"
	"mage/tensor"
)

// tritonOperation is a kernel that Triton compiled, opened for one case.
type tritonOperation struct {
	device   *simt.Device
	stream   gpu.Stream
	contract contract.Contract
	dims     contract.Dims
	inputs   map[string]gpu.Ptr
	out      gpu.Ptr
	launch   gpu.Launch
}

func openTriton(t testing.TB, index triton.Index, c contract.Contract, dims contract.Dims) *tritonOperation {
	t.Helper()
	l, k, ok := index.Find(c.Name(), dims)
	if !ok {
		t.Fatalf("no launch of %s at %s", c.Name(), dims.Format(c.DimNames()))
	}
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range d.Findings() {
			t.Errorf("%s at %s: %s", k.File, dims.Format(c.DimNames()), f.Report())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	o := &tritonOperation{device: d, contract: c, dims: dims, inputs: map[string]gpu.Ptr{}}
	if o.stream, err = d.NewStream(); err != nil {
		t.Fatal(err)
	}
	buffers := map[string]gpu.Ptr{}
	for _, s := range c.Inputs(dims) {
		if o.inputs[s.Name], err = d.Alloc(int64(max(s.Bytes(), 4))); err != nil {
			t.Fatal(err)
		}
		buffers[s.Name] = o.inputs[s.Name]
	}
	if o.out, err = d.Alloc(o.size()); err != nil {
		t.Fatal(err)
	}
	buffers["out"] = o.out + gate.GuardBytes
	text, err := triton.PTX(k)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(text)
	if err != nil {
		t.Fatalf("%s: %v", k.File, err)
	}
	f, err := m.Function(k.Entry)
	if err != nil {
		t.Fatalf("%s: %v", k.File, err)
	}
	var args []gpu.Arg
	for _, name := range k.Arguments {
		if v, ok := l.Scalars[name]; ok {
			args = append(args, gpu.Int32(int32(v)))
		} else {
			args = append(args, gpu.Pointer(buffers[name])) // null for scratch memory
		}
	}
	o.launch, err = f.Bind(gpu.Config{Grid: l.Grid, Block: [3]uint32{uint32(32 * k.Warps), 1, 1}, DynamicShared: uint32(k.Shared)}, args...)
	if err != nil {
		t.Fatalf("%s: %v", k.File, err)
	}
	return o
}

func (o *tritonOperation) SetInputs(in contract.Tensors) error {
	for _, s := range o.contract.Inputs(o.dims) {
		if s.Bytes() == 0 {
			continue
		}
		if err := o.device.Upload(o.inputs[s.Name], in[s.Name].Data); err != nil {
			return err
		}
	}
	return nil
}

func (o *tritonOperation) Inputs() (contract.Tensors, error) {
	in := contract.Tensors{}
	for _, s := range o.contract.Inputs(o.dims) {
		v := tensor.New(s)
		if s.Bytes() > 0 {
			if err := o.device.Download(v.Data, o.inputs[s.Name]); err != nil {
				return nil, err
			}
		}
		in[s.Name] = v
	}
	return in, nil
}

func (o *tritonOperation) size() int64 {
	return int64(o.contract.Output(o.dims).Bytes() + 2*gate.GuardBytes)
}

func (o *tritonOperation) Poison(value byte) error { return o.device.Fill(o.out, value, o.size()) }

func (o *tritonOperation) Run() error {
	if err := o.launch.Submit(o.stream); err != nil {
		return err
	}
	return o.stream.Synchronize()
}

func (o *tritonOperation) Output() ([]byte, error) {
	b := make([]byte, o.size())
	return b, o.device.Download(b, o.out)
}

// passTriton takes what Triton compiled through the gate.
func passTriton(t *testing.T, families ...string) {
	index, err := triton.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contract.All() {
		for _, g := range cases(t, c, families...) {
			t.Run(fmt.Sprintf("%s/%s/%s", c.Name(), g.dims.Format(c.DimNames()), g.distribution), func(t *testing.T) {
				o := openTriton(t, index, c, g.dims)
				for i, seed := range []uint64{input.DefaultSeed, input.DefaultSeed + 1} {
					in := g.inputs(t, seed)
					if err := o.SetInputs(in); err != nil {
						t.Fatal(err)
					}
					s := gate.Spec{Contract: c, Dims: g.dims, Inputs: in, Seed: seed, Stage: gate.Before, Reference: c.Reference(g.dims, in)}
					r, err := gate.Check(o, s)
					if err == nil {
						err = r.Err()
					}
					if err != nil {
						t.Errorf("seed %d: %v", i, err)
					}
				}
			})
		}
	}
}

func TestTritonKernelsPassTheGate(t *testing.T) { passTriton(t, "small") }

// TestTritonDefaultShapesPassTheGate takes minutes of processor time, with the tails.
func TestTritonDefaultShapesPassTheGate(t *testing.T) {
	if os.Getenv("MAGE_LONG") == "" {
		t.Skip("set MAGE_LONG=1 to run the default shapes")
	}
	passTriton(t, "default", "tails")
}
