package lanes

import (
	"math"
	"math/bits"
)

// Int is an integer lane.
type Int interface {
	uint32 | uint64 | int32 | int64
}

// Add is d = a + b.
func Add[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

// Sub is d = a - b.
func Sub[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

// Mul is the low half of a·b.
func Mul[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

// Mad is the low half of a·b + c.
func Mad[T Int](d, a, b, c *[Width]T) {
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

// MulWideU and MulWideS are the whole product of 32-bit factors.
func MulWideU(d *[Width]uint64, a, b *[Width]uint32) {
	for i := range d {
		d[i] = uint64(a[i]) * uint64(b[i])
	}
}

// MulWideS is MulWideU for signed factors.
func MulWideS(d *[Width]int64, a, b *[Width]int32) {
	for i := range d {
		d[i] = int64(a[i]) * int64(b[i])
	}
}

// And, Or and Xor are bitwise.
func And[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

// Or is d = a | b.
func Or[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

// Xor is d = a ^ b.
func Xor[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

// Not is d = ^a.
func Not[T Int](d, a *[Width]T) {
	for i := range d {
		d[i] = ^a[i]
	}
}

// Move is d = a.
func Move[T Word](d, a *[Width]T) { *d = *a }

// Shl and Shr shift by b, clamped to the width: Go's shifts are PTX's.
func Shl[T Int](d, a *[Width]T, b *[Width]uint32) {
	for i := range d {
		d[i] = a[i] << b[i]
	}
}

// Shr shifts right, signed types arithmetically.
func Shr[T Int](d, a *[Width]T, b *[Width]uint32) {
	for i := range d {
		d[i] = a[i] >> b[i]
	}
}

// Min is the smaller.
func Min[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

// Max is the larger.
func Max[T Int](d, a, b *[Width]T) {
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

// Div is a / b. PTX leaves division by zero open; the hardware returns all ones.
func Div[T Int](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b // the smallest integer by -1 is itself in Go, as in hardware
}

// Rem is the remainder with the sign of a. Of a division by zero the hardware returns
// all ones here as well.
func Rem[T Int](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a % b
}

// MulHi is the high half of a product.
func MulHi[T Int](a, b T) T {
	switch x := any(a).(type) {
	case uint32:
		return T(uint64(x) * uint64(b) >> 32)
	case int32:
		return T(int64(x) * int64(b) >> 32)
	case uint64:
		hi, _ := bits.Mul64(x, uint64(b))
		return T(hi)
	}
	hi, _ := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return T(hi)
}

// AddSat and SubSat clamp to the range of int32.
func AddSat(a, b int32) int32 { return clamp32(int64(a) + int64(b)) }

// SubSat is AddSat of the difference.
func SubSat(a, b int32) int32 { return clamp32(int64(a) - int64(b)) }

func clamp32(v int64) int32 { return int32(min(max(v, math.MinInt32), math.MaxInt32)) }

// MadHiSat is mad.hi.sat.s32.
func MadHiSat(a, b, c int32) int32 { return clamp32(int64(MulHi(a, b)) + int64(c)) }

// Abs is |a|; the smallest integer stays itself.
func Abs[T Int](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

// Neg is -a.
func Neg[T Int](a T) T { return -a }

// CNot is 1 where a is zero.
func CNot[T Int](a T) T {
	if a == 0 {
		return 1
	}
	return 0
}

// Sad is c + |a-b|.
func Sad[T Int](a, b, c T) T {
	if a > b {
		return c + (a - b)
	}
	return c + (b - a)
}

// Mul24 multiplies the low 24 bits of its factors, signed or not, and returns 32
// bits of the product from shift 0 (lo) or 16 (hi).
func Mul24(signed bool, shift int) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		if signed {
			return uint32(int64(int32(a<<8)>>8) * int64(int32(b<<8)>>8) >> shift)
		}
		return uint32(uint64(a<<8>>8) * uint64(b<<8>>8) >> shift)
	}
}
