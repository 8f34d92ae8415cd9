package lanes

import (
	"math"
	"math/bits"
)

// ToInteger converts to an integer of the given width, clamped to its range.
// NaN gives 0, or the top bit alone where source or destination has 64 bits, as
// the PTX manual says of cvt.
func ToInteger(width int, signed, wide bool, mode Rounding) func(x float64) uint64 {
	lo, hi := 0.0, math.Ldexp(1, width)
	if signed {
		lo, hi = -math.Ldexp(1, width-1), math.Ldexp(1, width-1)
	}
	mask := ^uint64(0) >> (64 - width)
	top := uint64(1) << (width - 1)
	most := mask
	if signed {
		most = mask >> 1
	}
	return func(x float64) uint64 {
		if x != x {
			if wide || width == 64 {
				return top
			}
			return 0
		}
		x = Integral(x, mode)
		switch {
		case x <= lo:
			if signed {
				return top
			}
			return 0
		case x >= hi:
			return most
		case x < 0:
			return uint64(int64(x)) & mask
		}
		return uint64(x)
	}
}

// Integral rounds to an integral value.
func Integral(x float64, mode Rounding) float64 {
	switch mode {
	case Zero:
		return math.Trunc(x)
	case Down:
		return math.Floor(x)
	case Up:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// integer splits an integer into sign and magnitude.
func integer(v uint64, signed bool) (negative bool, magnitude uint64) {
	if signed && int64(v) < 0 {
		return true, -v
	}
	return false, v
}

// IntegerTo64 converts an integer, sign- or zero-extended to 64 bits, to float64.
func IntegerTo64(v uint64, signed bool, mode Rounding) float64 {
	negative, m := integer(v, signed)
	f := float64(m)
	if n := bits.Len64(m) - 53; n > 0 {
		f = math.Ldexp(float64(roundShift(m, n, mode, negative)), n)
	}
	if negative {
		return -f
	}
	return f
}

// IntegerOdd converts an integer to a float64 rounded to odd, for Narrow32 and
// Format.Encode.
func IntegerOdd(v uint64, signed bool) float64 {
	negative, m := integer(v, signed)
	if n := bits.Len64(m) - 53; n > 0 {
		kept := m >> n
		if m&(1<<n-1) != 0 {
			kept |= 1
		}
		m = kept << n
	}
	if negative {
		return -float64(m)
	}
	return float64(m)
}

// Clamp converts between integer widths with saturation. The value comes extended
// to 64 bits by its own signedness.
func Clamp(v uint64, signedFrom bool, width int, signedTo bool) uint64 {
	mask := ^uint64(0) >> (64 - width)
	most := mask
	if signedTo {
		most = mask >> 1
	}
	if signedFrom && int64(v) < 0 {
		if !signedTo {
			return 0
		}
		least := int64(-1) << (width - 1)
		return uint64(max(int64(v), least)) & mask
	}
	return min(v, most)
}

// Extend extends the low width bits to 64.
func Extend(v uint64, width int, signed bool) uint64 {
	n := 64 - width
	if signed {
		return uint64(int64(v<<n) >> n)
	}
	return v << n >> n
}

// TF32 rounds to the 10 bits of mantissa that tf32 keeps. NaN becomes one of these,
// but .rna works on the bits alone: it cuts NaN and infinities off, and with finite
// takes one from whatever has the largest exponent.
func TF32(a float32, mode Rounding, relu, finite bool) float32 {
	const exponent, last = 0x7f800000, 1 << 13
	b := math.Float32bits(a)
	if mode != NearestAway && a != a {
		return math.Float32frombits(NaN32 &^ (last - 1))
	}
	if b&exponent != exponent {
		b = b&(1<<31) | uint32(roundShift(uint64(b&^(1<<31)), 13, mode, b>>31 != 0)<<13)
	}
	b &^= last - 1
	if finite && b&exponent == exponent {
		b -= last
	}
	if relu && b>>31 != 0 {
		return 0
	}
	return math.Float32frombits(b)
}

// MoveNaN makes a quiet NaN of another format: it keeps the sign and the upper bits.
func MoveNaN(v uint64, from, to Format) uint64 {
	m := v & (1<<from.Mantissa - 1) << (63 - from.Mantissa) >> (63 - to.Mantissa)
	sign := v >> (from.Mantissa + from.Exponent) & 1
	return sign<<(to.Mantissa+to.Exponent) | (1<<to.Exponent-1)<<to.Mantissa | m | 1<<(to.Mantissa-1)
}
