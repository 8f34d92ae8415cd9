package lanes

import "math/bits"

// Popc counts ones, Clz leading zeros.
func Popc[T uint32 | uint64](a T) uint32 { return uint32(bits.OnesCount64(uint64(a))) }

// Clz32 counts leading zeros of 32 bits.
func Clz32(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) }

// Clz64 counts leading zeros of 64 bits.
func Clz64(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) }

// Brev32 reverses bits.
func Brev32(a uint32) uint32 { return bits.Reverse32(a) }

// Brev64 reverses bits.
func Brev64(a uint64) uint64 { return bits.Reverse64(a) }

// Find is bfind: the highest bit that differs from the sign (signed) or is one,
// as a position or, with shift, as the distance from the top; all ones for none.
func Find[T Int](shift bool) func(a T) uint32 {
	var zero T
	signed := zero-1 < 0
	width := 32
	if T(1)<<31<<1 != 0 {
		width = 64
	}
	return func(a T) uint32 {
		if signed && a < 0 {
			a = ^a
		}
		v := uint64(a)
		if width == 32 {
			v = uint64(uint32(v))
		}
		if v == 0 {
			return ^uint32(0)
		}
		at := bits.Len64(v) - 1
		if shift {
			at = width - 1 - at
		}
		return uint32(at)
	}
}

// Extract is bfe: c bits of a from bit b on, extended by sign or zero, also for
// positions outside the value. Of 32 bits only the lowest eight of b and c count; of
// 64 bits, which the hardware has no instruction for, all do.
func Extract(width uint32, signed bool) func(a uint64, b, c uint32) uint64 {
	return func(a uint64, b, c uint32) uint64 {
		pos, n := b&0xff, c&0xff
		if width == 64 {
			pos, n = min(b, 64), min(c, 64)
		}
		var sign uint64
		if signed && n != 0 {
			sign = a >> min(pos+n-1, width-1) & 1
		}
		n = min(n, width-min(pos, width)) // bits that there are
		return a>>pos&(1<<n-1) | -sign<<n&(^uint64(0)>>(64-width))
	}
}

// ShiftLeft and ShiftRight are shf: 32 bits of the pair (b,a) shifted by c, which
// is clamped to 32 or wraps around.
func ShiftLeft(wrap bool) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		return uint32((uint64(b)<<32 | uint64(a)) << amount(c, wrap) >> 32)
	}
}

// ShiftRight is shf.r.
func ShiftRight(wrap bool) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		return uint32((uint64(b)<<32 | uint64(a)) >> amount(c, wrap))
	}
}

func amount(c uint32, wrap bool) uint32 {
	if wrap {
		return c & 31
	}
	return min(c, 32)
}

// Permute is prmt: the bytes of (b,a) that the four selectors in c name. A
// selector with bit 3 replicates the byte's sign.
func Permute(a, b, c uint32) uint32 {
	var d uint32
	for i := range 4 {
		d |= selectByte(a, b, c>>(4*i)&15) << (8 * i)
	}
	return d
}

func selectByte(a, b, selector uint32) uint32 {
	v := uint32((uint64(b)<<32|uint64(a))>>(8*(selector&7))) & 0xff
	if selector&8 != 0 {
		v = uint32(int32(v<<24)>>31) & 0xff
	}
	return v
}

// PermuteMode is prmt with one of the modes f4e, b4e, rc8, ecl, ecr and rc16, nil
// for another.
func PermuteMode(mode string) func(a, b, c uint32) uint32 {
	var table [4]uint32
	switch mode {
	case "f4e":
		table = [4]uint32{0x3210, 0x4321, 0x5432, 0x6543}
	case "b4e":
		table = [4]uint32{0x5670, 0x6701, 0x7012, 0x0123}
	case "rc8":
		table = [4]uint32{0x0000, 0x1111, 0x2222, 0x3333}
	case "ecl":
		table = [4]uint32{0x3210, 0x3211, 0x3222, 0x3333}
	case "ecr":
		table = [4]uint32{0x0000, 0x1110, 0x2210, 0x3210}
	case "rc16":
		table = [4]uint32{0x1010, 0x3232, 0x1010, 0x3232}
	default:
		return nil
	}
	return func(a, b, c uint32) uint32 { return Permute(a, b, table[c&3]) }
}

// DotBytes is dp4a and dp2a: the sum of products of bytes of a with bytes of b,
// or of halves of a with two bytes of b, plus c.
func DotBytes(signedA, signedB bool) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		for i := range 4 {
			c += extend(a>>(8*i), 8, signedA) * extend(b>>(8*i), 8, signedB)
		}
		return c
	}
}

// DotHalves is dp2a; from is 0 for .lo, 2 for .hi.
func DotHalves(signedA, signedB bool, from int) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		for i := range 2 {
			c += extend(a>>(16*i), 16, signedA) * extend(b>>(8*(from+i)), 8, signedB)
		}
		return c
	}
}

func extend(v uint32, width int, signed bool) uint32 {
	if signed {
		return uint32(int32(v<<(32-width)) >> (32 - width))
	}
	return v << (32 - width) >> (32 - width)
}

// Mask is bmsk: b ones from bit a on, with both clamped to 32 or wrapped around.
func Mask(clamp bool) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		from, n := a&31, b&31
		if clamp {
			from, n = min(a, 32), min(b, 32)
		}
		return uint32(1<<min(from+n, 32) - uint64(1)<<from)
	}
}

// ExtendBits is szext: the low b bits of a, extended by sign or zero. All 32 are
// kept where b is larger and clamped.
func ExtendBits(clamp, signed bool) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		if clamp && b >= 32 {
			return a
		}
		if b &= 31; b == 0 {
			return 0
		}
		return extend(a, int(b), signed)
	}
}

// FindNth is fns: the position of the one that is the n-th at or above base, or
// below for a negative n; base itself for 0. All ones for none.
func FindNth(a, base, n uint32) uint32 {
	step, left := 1, int64(int32(n))
	switch {
	case left == 0:
		if base < 32 && a>>base&1 != 0 {
			return base
		}
		return Full
	case left < 0:
		step, left = -1, -left
	}
	for at := int64(base); at >= 0 && at < 32; at += int64(step) {
		if a>>at&1 == 0 {
			continue
		}
		if left--; left == 0 {
			return uint32(at)
		}
	}
	return Full
}
