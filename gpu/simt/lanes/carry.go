package lanes

import "math/bits"

// CarryOp is an addition, subtraction or multiplication with the carry flag.
type CarryOp struct {
	Subtract, Multiply, High, Signed, Wide bool
	Use, Set                               bool // the flag as input, as output
}

// Carry returns the Op of add.cc, addc, sub.cc, subc, mad.cc and madc.
func Carry(c CarryOp) Op {
	if c.Wide {
		return carryOf[uint64](c)
	}
	return carryOf[uint32](c)
}

func carryOf[T uint32 | uint64](c CarryOp) Op {
	return func(r *File, o *Regs, mask uint32) {
		a, b, d := At[T](r, o.A), At[T](r, o.B), At[T](r, o.D)
		third := b
		if c.Multiply {
			third = At[T](r, o.C)
		}
		flags := r.Carry
		for i := range d {
			if mask>>i&1 == 0 {
				continue
			}
			x, y := a[i], b[i]
			if c.Multiply {
				x, y = product(x, y, c), third[i]
			}
			var in uint64
			if c.Use {
				in = uint64(r.Carry >> i & 1)
			}
			var sum, out uint64
			if c.Subtract {
				sum, out = subtract(x, y, in)
			} else {
				sum, out = add(x, y, in)
			}
			d[i] = T(sum)
			if c.Set {
				flags = flags&^(1<<i) | uint32(out)<<i
			}
		}
		r.Carry = flags
	}
}

func product[T uint32 | uint64](a, b T, c CarryOp) T {
	switch {
	case !c.High:
		return a * b
	case c.Signed && c.Wide:
		return T(MulHi(int64(a), int64(b)))
	case c.Signed:
		return T(MulHi(int32(a), int32(b)))
	}
	return MulHi(a, b)
}

func add[T uint32 | uint64](a, b T, carry uint64) (sum, out uint64) {
	if is32[T]() {
		s := uint64(a) + uint64(b) + carry
		return s, s >> 32
	}
	return bits.Add64(uint64(a), uint64(b), carry)
}

func subtract[T uint32 | uint64](a, b T, borrow uint64) (difference, out uint64) {
	if is32[T]() {
		s := uint64(a) - uint64(b) - borrow
		return s, s >> 63
	}
	return bits.Sub64(uint64(a), uint64(b), borrow)
}

func is32[T uint32 | uint64]() bool { return ^T(0)>>31 == 1 }
