package lanes

import (
	"math"
	"math/bits"
)

// Rounding is a rounding mode.
type Rounding uint8

// The modes, as PTX names them. NearestAway rounds ties away from zero (.rna).
const (
	Nearest     Rounding = iota // rn
	Zero                        // rz
	Down                        // rm
	Up                          // rp
	NearestAway                 // rna
)

// Canonical NaNs: what 32-bit and smaller instructions return for any NaN.
const (
	NaN32 = 0x7fffffff
	NaN16 = 0x7fff
)

// odd returns the float64 that stands for s + e in any later rounding to fewer
// than 52 bits: s itself if e is zero, otherwise the neighbour of the exact sum
// whose last bit is one. (Rounding to odd; Boldo and Melquiond, "Emulation of FMA
// and correctly rounded sums: proved algorithms using rounding to odd", 2008.)
// e need only have the right sign.
func odd(s, e float64) float64 {
	b := math.Float64bits(s)
	if e == 0 || b&1 != 0 || e != e || b<<1 >= 0x7ff<<53 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// sumOdd returns a + b rounded to odd, by the error-free sum of Knuth.
func sumOdd(a, b float64) float64 {
	s := a + b
	t := s - a
	return odd(s, (a-(s-t))+(b-t))
}

// Narrow32 rounds an exact or odd-rounded value to float32.
func Narrow32(x float64, mode Rounding) float32 {
	f := float32(x)
	switch y := float64(f); mode {
	case Zero:
		if math.Abs(y) > math.Abs(x) {
			return step32(f, false)
		}
	case Down:
		if y > x {
			return next32(f, false)
		}
	case Up:
		if y < x {
			return next32(f, true)
		}
	}
	return f
}

// step32 goes one float32 away from zero or towards it.
func step32(f float32, away bool) float32 {
	b := math.Float32bits(f)
	if away {
		return math.Float32frombits(b + 1)
	}
	return math.Float32frombits(b - 1)
}

// next32 goes one float32 up or down.
func next32(f float32, up bool) float32 {
	if f == 0 {
		if up {
			return math.Float32frombits(1)
		}
		return math.Float32frombits(1<<31 | 1)
	}
	return step32(f, (f > 0) == up)
}

// Format is a binary floating-point format of at most 32 bits with an IEEE-like
// exponent and, unless Finite, infinities.
type Format struct {
	Exponent, Mantissa int
	// Finite formats have no infinity: the largest exponent holds numbers, and only
	// the all-ones pattern is NaN (e4m3).
	Finite bool
}

// The formats of PTX: f16, bf16 and the 8-bit floats.
var (
	Half  = Format{Exponent: 5, Mantissa: 10}
	Brain = Format{Exponent: 8, Mantissa: 7}
	E5M2  = Format{Exponent: 5, Mantissa: 2}
	E4M3  = Format{Exponent: 4, Mantissa: 3, Finite: true}
)

func (f Format) bias() int { return 1<<(f.Exponent-1) - 1 }

// nan is the canonical NaN: all ones but the sign.
func (f Format) nan() uint32 { return 1<<(f.Exponent+f.Mantissa) - 1 }

// largest is the largest finite magnitude.
func (f Format) largest() uint32 {
	if f.Finite {
		return f.nan() - 1
	}
	return uint32(1<<f.Exponent-1)<<f.Mantissa - 1
}

// Encode rounds an exact or odd-rounded value. Overflow follows the rounding
// mode, or with saturate is clamped to the largest finite number.
func (f Format) Encode(x float64, mode Rounding, saturate bool) uint32 {
	if x != x {
		return f.nan()
	}
	b := math.Float64bits(x)
	if mode == Nearest {
		// The path of most values: a normal result. Adding half of the last place
		// rounds, and a carry moves on to the exponent.
		magnitude, drop := b&^(1<<63), uint(52-f.Mantissa)
		if magnitude >= uint64(1024-f.bias())<<52 && magnitude < 0x7ff<<52 {
			r := (magnitude+(1<<(drop-1)-1)+magnitude>>drop&1)>>drop - uint64(1023-f.bias())<<f.Mantissa
			if r <= uint64(f.largest()) {
				return uint32(b>>63)<<(f.Exponent+f.Mantissa) | uint32(r)
			}
		}
	}
	sign := uint32(b>>63) << (f.Exponent + f.Mantissa)
	negative := b>>63 != 0
	if x == 0 {
		return sign
	}
	if math.IsInf(x, 0) {
		if saturate {
			return sign | f.largest()
		}
		return sign | f.infinity()
	}
	exponent := int(b>>52&0x7ff) - 1023
	mantissa := b&(1<<52-1) | 1<<52
	if b>>52&0x7ff == 0 { // a float64 subnormal: too small for every format here
		exponent, mantissa = -1022, b&(1<<52-1)
	}
	drop := 52 - f.Mantissa
	e := exponent + f.bias()
	if e < 1 { // subnormal in this format
		drop += 1 - e
		e = 1
	}
	kept := roundShift(mantissa, drop, mode, negative)
	// A subnormal lacks the hidden bit, and a carry out of the mantissa moves on
	// to the exponent: plain addition does both.
	r := uint64(e-1)<<f.Mantissa + kept
	if r > uint64(f.largest()) {
		if saturate || !f.overflows(mode, negative) {
			return sign | f.largest()
		}
		return sign | f.infinity()
	}
	return sign | uint32(r)
}

// infinity, or the NaN that takes its place.
func (f Format) infinity() uint32 {
	if f.Finite {
		return f.nan()
	}
	return f.largest() + 1
}

func (f Format) overflows(mode Rounding, negative bool) bool {
	return mode == Nearest || mode == NearestAway || mode == Up && !negative || mode == Down && negative
}

// roundShift is m >> n, rounded.
func roundShift(m uint64, n int, mode Rounding, negative bool) uint64 {
	if n <= 0 {
		return m << -n
	}
	if n > 63 {
		m, n = uint64(min(m, 1)), 63
	}
	kept, rest, half := m>>n, m&(1<<n-1), uint64(1)<<(n-1)
	up := false
	switch mode {
	case Nearest:
		up = rest > half || rest == half && kept&1 != 0
	case NearestAway:
		up = rest >= half
	case Down:
		up = negative && rest != 0
	case Up:
		up = !negative && rest != 0
	}
	if up {
		kept++
	}
	return kept
}

// Decode returns the value, exactly.
func (f Format) Decode(v uint32) float64 {
	switch f {
	case Brain:
		return float64(math.Float32frombits(v << 16))
	case Half:
		if v&0x7c00 != 0x7c00 {
			// Scaling is exact, and makes subnormals normal.
			scaled := math.Float32frombits(v&0x7fff<<13) * 0x1p112
			return float64(math.Float32frombits(math.Float32bits(scaled) | v&0x8000<<16))
		}
	}
	m := uint64(v & (1<<f.Mantissa - 1))
	e := int(v >> f.Mantissa & (1<<f.Exponent - 1))
	sign := uint64(v>>(f.Exponent+f.Mantissa)&1) << 63
	switch {
	case f.Finite && v&f.nan() == f.nan():
		return math.NaN()
	case e == 1<<f.Exponent-1 && !f.Finite:
		if m != 0 {
			return math.NaN()
		}
		return math.Float64frombits(sign | 0x7ff<<52)
	case e == 0 && m == 0:
		return math.Float64frombits(sign)
	case e == 0: // subnormal: shift up to the hidden bit
		n := f.Mantissa + 1 - bits.Len64(m)
		m <<= n
		e = 1 - n
	}
	return math.Float64frombits(sign | uint64(e-f.bias()+1023)<<52 | m<<(52-f.Mantissa)&(1<<52-1))
}
