// Package tensor describes dense arrays as raw little-endian bytes: element
// type, shape, data. It must not know what the numbers mean, where they live on
// a device, or which contract they belong to.
package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// DType is an element type.
type DType string

// The element types that contracts use on disk and on devices.
const (
	F32 DType = "f32"
	U32 DType = "u32"
)

// Size returns the bytes of one element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case F32, U32:
		return 4
	}
	return 0
}

// Spec names an array and gives its element type and shape, without data.
type Spec struct {
	Name  string // "a", "rowptr"
	DType DType
	Shape []int // row-major, contiguous; a dimension may be zero
}

// Len returns the number of elements.
func (s Spec) Len() int {
	n := 1
	for _, d := range s.Shape {
		n *= d
	}
	return n
}

// Bytes returns the length of the data in bytes.
func (s Spec) Bytes() int { return s.Len() * s.DType.Size() }

func (s Spec) String() string { return fmt.Sprintf("%s %s%v", s.Name, s.DType, s.Shape) }

// Index converts a flat element index into one index per dimension.
func (s Spec) Index(flat int) []int {
	idx := make([]int, len(s.Shape))
	for i := len(s.Shape) - 1; i >= 0; i-- {
		if s.Shape[i] > 0 {
			idx[i] = flat % s.Shape[i]
			flat /= s.Shape[i]
		}
	}
	return idx
}

// Tensor is a Spec with its bytes: little-endian, len(Data) == Spec.Bytes().
type Tensor struct {
	Spec
	Data []byte
}

// New returns a zeroed tensor. Its data is aligned for every element type.
func New(s Spec) Tensor {
	words := make([]uint64, (s.Bytes()+7)/8)
	if len(words) == 0 {
		return Tensor{Spec: s, Data: []byte{}}
	}
	return Tensor{Spec: s, Data: unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), s.Bytes())}
}

// Clone returns a copy that shares no memory with t.
func (t Tensor) Clone() Tensor {
	c := New(t.Spec)
	copy(c.Data, t.Data)
	return c
}

// Float32s returns the data as float32 values. On a little-endian machine with
// aligned data it is a view that shares memory; otherwise it is a decoded copy,
// so writers must use PutFloat32s.
func (t Tensor) Float32s() []float32 {
	if v, ok := view[float32](t.Data); ok {
		return v
	}
	out := make([]float32, len(t.Data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
	}
	return out
}

// Uint32s is Float32s for unsigned integers.
func (t Tensor) Uint32s() []uint32 {
	if v, ok := view[uint32](t.Data); ok {
		return v
	}
	out := make([]uint32, len(t.Data)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(t.Data[4*i:])
	}
	return out
}

// PutFloat32s encodes v into the data; len(v) must equal Len().
func (t Tensor) PutFloat32s(v []float32) {
	for i, x := range v {
		binary.LittleEndian.PutUint32(t.Data[4*i:], math.Float32bits(x))
	}
}

// PutUint32s encodes v into the data; len(v) must equal Len().
func (t Tensor) PutUint32s(v []uint32) {
	for i, x := range v {
		binary.LittleEndian.PutUint32(t.Data[4*i:], x)
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func view[T float32 | uint32](b []byte) ([]T, bool) {
	if !littleEndian {
		return nil, false
	}
	if len(b) < 4 {
		return []T{}, true
	}
	p := unsafe.Pointer(&b[0])
	if uintptr(p)%unsafe.Alignof(T(0)) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(p), len(b)/4), true
}
