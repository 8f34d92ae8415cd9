package cpu

import (
	"encoding/binary"
	"maps"
	"math"

	"mage/contract"
	"mage/gate"
	"mage/tensor"
)

// guard is the length of each guard zone in elements.
const guard = gate.GuardBytes / 4

// buffers holds the inputs and the output of one operation as native numbers.
// The slices keep their addresses for the life of the operation.
type buffers struct {
	dims  contract.Dims
	specs []tensor.Spec
	float map[string][]float32
	index map[string][]uint32
	whole []float32 // guard, output, guard
	out   []float32 // the output alone
}

func newBuffers(c contract.Contract, d contract.Dims) *buffers {
	b := &buffers{
		dims:  maps.Clone(d),
		specs: c.Inputs(d),
		float: map[string][]float32{},
		index: map[string][]uint32{},
	}
	for _, s := range b.specs {
		if s.DType == tensor.U32 {
			b.index[s.Name] = make([]uint32, s.Len())
		} else {
			b.float[s.Name] = make([]float32, s.Len())
		}
	}
	n := c.Output(d).Len()
	b.whole = make([]float32, guard+n+guard)
	b.out = b.whole[guard : guard+n : guard+n]
	return b
}

// load overwrites the inputs in place; in must have passed CheckInputs.
func (b *buffers) load(in contract.Tensors) {
	for name, dst := range b.float {
		copy(dst, in[name].Float32s())
	}
	for name, dst := range b.index {
		copy(dst, in[name].Uint32s())
	}
}

// inputs returns a copy of the inputs as they are now.
func (b *buffers) inputs() contract.Tensors {
	in := contract.Tensors{}
	for _, s := range b.specs {
		t := tensor.New(s)
		if s.DType == tensor.U32 {
			t.PutUint32s(b.index[s.Name])
		} else {
			t.PutFloat32s(b.float[s.Name])
		}
		in[s.Name] = t
	}
	return in
}

// poison sets every byte of the output allocation.
func (b *buffers) poison(value byte) {
	v := math.Float32frombits(uint32(value) * 0x01010101)
	for i := range b.whole {
		b.whole[i] = v
	}
}

// output returns a copy of the output allocation, little-endian.
func (b *buffers) output() []byte {
	raw := make([]byte, 4*len(b.whole))
	for i, v := range b.whole {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(v))
	}
	return raw
}
