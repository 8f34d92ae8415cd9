package simt_test

import (
	"encoding/binary"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
)

const header = ".version 8.0\n.target sm_90\n.address_size 64\n"

// rig is a device with one kernel of PTX text.
type rig struct {
	t        testing.TB
	device   *simt.Device
	stream   gpu.Stream
	function gpu.Function
}

// newRig loads text, which must hold a kernel k.
func newRig(t testing.TB, o simt.Options, text string) *rig {
	t.Helper()
	return newRigOf(t, o, []byte(header+text), "k")
}

// newRigOf loads an image and takes the kernel of a name.
func newRigOf(t testing.TB, o simt.Options, image []byte, name string) *rig {
	t.Helper()
	d, err := simt.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, d, s, f}
}

// words allocates and fills 32-bit words.
func (r *rig) words(v ...uint32) gpu.Ptr {
	r.t.Helper()
	b := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[4*i:], x)
	}
	p := r.alloc(len(v))
	if err := r.device.Upload(p, b); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// alloc allocates n words and leaves them unwritten.
func (r *rig) alloc(n int) gpu.Ptr {
	r.t.Helper()
	p, err := r.device.Alloc(int64(4 * n))
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// run launches k and returns the error of the launch.
func (r *rig) run(grid, block int, dynamic uint32, args ...gpu.Arg) error {
	r.t.Helper()
	l, err := r.function.Bind(gpu.Config{Grid: [3]uint32{uint32(grid), 1, 1}, Block: [3]uint32{uint32(block), 1, 1}, DynamicShared: dynamic}, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := l.Submit(r.stream); err != nil {
		r.t.Fatal(err)
	}
	return r.stream.Synchronize()
}

// read returns n words.
func (r *rig) read(p gpu.Ptr, n int) []uint32 {
	r.t.Helper()
	b := make([]byte, 4*n)
	if err := r.device.Download(b, p); err != nil {
		r.t.Fatal(err)
	}
	v := make([]uint32, n)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}
