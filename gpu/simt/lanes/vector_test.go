package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// vectors holds the operands of an operation on words.
type vectors struct {
	file       File
	regs       Regs
	a, b, c, n *[Width]uint32
	d          *[Width]uint32
}

func newVectors() *vectors {
	v := &vectors{file: File{Words: make([]uint64, 5*Words32)}, regs: Regs{A: 0, B: Words32, C: 2 * Words32, D2: 3 * Words32, D: 4 * Words32}}
	at := func(o int32) *[Width]uint32 { return At[uint32](&v.file, o) }
	v.a, v.b, v.c, v.n, v.d = at(v.regs.A), at(v.regs.B), at(v.regs.C), at(v.regs.D2), at(v.regs.D)
	return v
}

// compare runs an operation on random words and compares each lane with want.
func (v *vectors) compare(t *testing.T, name string, op Op, draw func(r *rand.Rand) uint32, want func(a, b, c, n uint32) uint32) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		for i := range v.a {
			v.a[i], v.b[i], v.c[i], v.n[i] = draw(r), draw(r), draw(r), draw(r)
		}
		op(&v.file, &v.regs, Full)
		for i, got := range v.d {
			if w := want(v.a[i], v.b[i], v.c[i], v.n[i]); got != w {
				t.Fatalf("%s of %#x, %#x, %#x, %#x: %#x, want %#x", name, v.a[i], v.b[i], v.c[i], v.n[i], got, w)
			}
		}
	}
}

func anyWord(r *rand.Rand) uint32 { return r.Uint32() }

// position draws words that are small half of the time.
func position(r *rand.Rand) uint32 { return r.Uint32() >> (r.Uint32() & 1 * 26) }

func TestBitVectors(t *testing.T) {
	v := newVectors()
	for table := range 256 {
		v.compare(t, "lop3", Lop3Op(uint8(table)), anyWord, func(a, b, c, _ uint32) (d uint32) {
			for i := range 32 {
				d |= uint32(table) >> (a>>i&1<<2 | b>>i&1<<1 | c>>i&1) & 1 << i
			}
			return d
		})
	}
	extract := func(signed bool) func(a, b, c, _ uint32) uint32 { // the manual's pseudo code
		return func(a, b, c, _ uint32) (d uint32) {
			pos, n := b&0xff, c&0xff
			var sign uint32
			if signed && n != 0 {
				sign = a >> min(pos+n-1, 31) & 1
			}
			for i := range uint32(32) {
				bit := sign
				if i < n && pos+i < 32 {
					bit = a >> (pos + i) & 1
				}
				d |= bit << i
			}
			return d
		}
	}
	v.compare(t, "bfe.u32", Extract32(false), position, extract(false))
	v.compare(t, "bfe.s32", Extract32(true), position, extract(true))
	for _, signed := range []bool{false, true} {
		f := Extract(32, signed)
		v.compare(t, "bfe", Each3(func(a, b, c uint32) uint32 { return uint32(f(uint64(a), b, c)) }), position, extract(signed))
	}
	v.compare(t, "bfi.b32", InsertBits(false), position, func(a, b, c, n uint32) uint32 {
		pos, n := c&0xff, n&0xff
		for i := range n {
			if pos+i < 32 {
				b = b&^(1<<(pos+i)) | a>>i&1<<(pos+i)
			}
		}
		return b
	})
	v.compare(t, "prmt", PermuteOp(), position, func(a, b, c, _ uint32) uint32 { return Permute(a, b, c) })
}

// anyFloat draws bits of float32 that are near integers, halves and limits.
func anyFloat(r *rand.Rand) uint32 { return math.Float32bits(operand32(r)) }

func TestConversionVectors(t *testing.T) {
	v := newVectors()
	float := func(f func(x float64) uint64) func(a, _, _, _ uint32) uint32 {
		return func(a, _, _, _ uint32) uint32 { return uint32(f(float64(math.Float32frombits(a)))) }
	}
	for _, mode := range modes {
		v.compare(t, "cvt.s32.f32", ToSigned32(mode), anyFloat, float(ToInteger(32, true, false, mode)))
		v.compare(t, "cvt.u32.f32", ToUnsigned32(mode), anyFloat, float(ToInteger(32, false, false, mode)))
	}
	v.compare(t, "cvt.f32.f16", FromHalf(), anyWord, func(a, _, _, _ uint32) uint32 { return math.Float32bits(fromSmall(Half, a&0xffff)) })
	v.compare(t, "cvt.f32.bf16", FromBrain(), anyWord, func(a, _, _, _ uint32) uint32 { return a << 16 })
	for _, f := range []Format{Half, Brain} {
		encode := float(func(x float64) uint64 { return uint64(f.Encode(x, Nearest, false)) })
		op := ToHalf()
		if f == Brain {
			op = ToBrain()
		}
		v.compare(t, "cvt.rn.f32", op, anyFloat, encode)
		v.compare(t, "cvt.rn.x2.f32", ToPair(f), anyFloat, func(a, b, _, _ uint32) uint32 { return encode(a, 0, 0, 0)<<16 | encode(b, 0, 0, 0) })
	}
	for _, larger := range []bool{false, true} {
		f := MinMax32(larger, false, false, false)
		v.compare(t, "min or max", Extremum32(larger), anyFloat, func(a, b, _, _ uint32) uint32 {
			return math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b)))
		})
	}
}
