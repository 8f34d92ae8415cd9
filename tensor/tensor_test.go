package tensor_test

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"mage/tensor"
)

func TestSpec(t *testing.T) {
	for _, c := range []struct {
		spec       tensor.Spec
		len, bytes int
		text       string
	}{
		{tensor.Spec{Name: "a", DType: tensor.F32, Shape: []int{2, 3}}, 6, 24, "a f32[2 3]"},
		{tensor.Spec{Name: "rowptr", DType: tensor.U32, Shape: []int{5}}, 5, 20, "rowptr u32[5]"},
		{tensor.Spec{Name: "b", DType: tensor.F32, Shape: []int{0}}, 0, 0, "b f32[0]"},
		{tensor.Spec{Name: "s", DType: tensor.F32}, 1, 4, "s f32[]"},
		{tensor.Spec{Name: "x", DType: "f7", Shape: []int{2}}, 2, 0, "x f7[2]"},
	} {
		if c.spec.Len() != c.len || c.spec.Bytes() != c.bytes || c.spec.String() != c.text {
			t.Errorf("%v: %d elements, %d bytes, want %q, %d, %d", c.spec, c.spec.Len(), c.spec.Bytes(), c.text, c.len, c.bytes)
		}
	}
}

// Index inverts the row-major flattening.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tensor.Spec{Shape: rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "shape")}
		flat := rapid.IntRange(0, s.Len()-1).Draw(t, "flat")
		back := 0
		for i, v := range s.Index(flat) {
			if v < 0 || v >= s.Shape[i] {
				t.Fatalf("index %v is outside %v", s.Index(flat), s.Shape)
			}
			back = back*s.Shape[i] + v
		}
		if back != flat {
			t.Fatalf("%v flattens to %d, not %d", s.Index(flat), back, flat)
		}
	})
}

func TestLittleEndianOnEveryMachine(t *testing.T) {
	f := tensor.New(tensor.Spec{Name: "a", DType: tensor.F32, Shape: []int{2}})
	f.PutFloat32s([]float32{1, -2})
	if want := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}; !reflect.DeepEqual(f.Data, want) {
		t.Errorf("bytes %x, want %x", f.Data, want)
	}
	u := tensor.New(tensor.Spec{Name: "i", DType: tensor.U32, Shape: []int{1}})
	u.PutUint32s([]uint32{0x01020304})
	if want := []byte{4, 3, 2, 1}; !reflect.DeepEqual(u.Data, want) {
		t.Errorf("bytes %x, want %x", u.Data, want)
	}
}

// Values survive, whatever the alignment of the bytes and the bits of a NaN.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOf(rapid.Uint32()).Draw(t, "bits")
		offset := rapid.IntRange(0, 3).Draw(t, "offset")
		raw := make([]byte, offset+4*len(bits))
		a := tensor.Tensor{
			Spec: tensor.Spec{Name: "a", DType: tensor.F32, Shape: []int{len(bits)}},
			Data: raw[offset:],
		}
		a.PutUint32s(bits)
		if got := a.Uint32s(); len(got) != len(bits) || len(bits) > 0 && !reflect.DeepEqual(got, bits) {
			t.Fatalf("integers %x, want %x", got, bits)
		}
		floats := a.Float32s()
		for i, v := range floats {
			if math.Float32bits(v) != bits[i] {
				t.Fatalf("float %d has bits %x, want %x", i, math.Float32bits(v), bits[i])
			}
		}
		b := tensor.New(a.Spec)
		b.PutFloat32s(floats)
		if b.SHA256() != a.SHA256() {
			t.Fatalf("%x became %x", a.Data, b.Data)
		}
	})
}

func TestCloneSharesNothing(t *testing.T) {
	a := tensor.New(tensor.Spec{Name: "a", DType: tensor.F32, Shape: []int{3}})
	b := a.Clone()
	a.PutFloat32s([]float32{1, 2, 3})
	if v := b.Float32s(); v[0] != 0 || v[2] != 0 {
		t.Errorf("the clone changed: %v", v)
	}
	if empty := tensor.New(tensor.Spec{DType: tensor.F32, Shape: []int{0}}).Clone(); len(empty.Data) != 0 || empty.Data == nil {
		t.Errorf("an empty tensor has data %v", empty.Data)
	}
}

// The examples of FIPS 180-2.
func TestSHA256(t *testing.T) {
	for text, want := range map[string]string{
		"":    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	} {
		if got := (tensor.Tensor{Data: []byte(text)}).SHA256(); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
