package lanes

import "math"

// SmallMode is what an instruction on f16 or bf16 asks for.
type SmallMode struct {
	Flush, Saturate bool
	Relu            bool // negative results and NaN become zero, canonical NaN kept
}

// Small computes on one 16-bit format.
type Small struct{ Format Format }

func (s Small) flush(v uint32) uint32 {
	if v>>s.Format.Mantissa&(1<<s.Format.Exponent-1) == 0 {
		return v & 0x8000
	}
	return v
}

func (s Small) operand(v uint32, m SmallMode) float64 {
	if m.Flush {
		v = s.flush(v)
	}
	return s.Format.Decode(v)
}

func (s Small) finish(x float64, m SmallMode) uint32 {
	if x != x {
		if m.Saturate {
			return 0
		}
		return NaN16
	}
	v := s.Format.Encode(x, Nearest, false)
	if m.Flush {
		v = s.flush(v)
	}
	if m.Saturate {
		v = s.Format.Encode(min(max(s.Format.Decode(v), 0), 1), Nearest, false)
	}
	if m.Relu && v&0x8000 != 0 {
		v = 0
	}
	return v
}

// Add, Sub, Mul and FMA round once, to nearest.
func (s Small) Add(m SmallMode) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return s.finish(sumOdd(s.operand(a, m), s.operand(b, m)), m) }
}

// Sub is a - b.
func (s Small) Sub(m SmallMode) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return s.finish(sumOdd(s.operand(a, m), -s.operand(b, m)), m) }
}

// Mul is a·b.
func (s Small) Mul(m SmallMode) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return s.finish(s.operand(a, m)*s.operand(b, m), m) }
}

// FMA is a·b + c.
func (s Small) FMA(m SmallMode) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		return s.finish(sumOdd(s.operand(a, m)*s.operand(b, m), s.operand(c, m)), m)
	}
}

// MinMax is like MinMax32.
func (s Small) MinMax(larger, flush, keepNaN, xor bool) func(a, b uint32) uint32 {
	f := MinMax32(larger, false, keepNaN, false)
	m := SmallMode{Flush: flush}
	return func(a, b uint32) uint32 {
		var sign uint32
		if xor { // the sign of NaN counts as well
			sign = (a ^ b) & 0x8000
			a, b = a&0x7fff, b&0x7fff
		}
		r := s.finish(float64(f(float32(s.operand(a, m)), float32(s.operand(b, m)))), SmallMode{})
		if r == NaN16 {
			return r
		}
		return r | sign
	}
}

// Abs and Neg change the sign bit only, after flushing; NaN becomes canonical.
func (s Small) Abs(flush bool) func(a uint32) uint32 {
	return func(a uint32) uint32 {
		if a&0x7fff > s.Format.infinity() {
			return NaN16
		}
		if flush {
			a = s.flush(a)
		}
		return a & 0x7fff
	}
}

// Neg flips the sign bit.
func (s Small) Neg(flush bool) func(a uint32) uint32 {
	return func(a uint32) uint32 {
		if a&0x7fff > s.Format.infinity() {
			return NaN16
		}
		if flush {
			a = s.flush(a)
		}
		return a ^ 0x8000
	}
}

// Lift applies a float64 function to one value.
func (s Small) Lift(f func(float64) float64) func(a uint32) uint32 {
	return func(a uint32) uint32 { return s.finish(f(s.Format.Decode(a)), SmallMode{}) }
}

// Compare applies a comparison of float32 to two values.
func (s Small) Compare(f func(a, b float32) bool, flush bool) func(a, b uint32) bool {
	m := SmallMode{Flush: flush}
	return func(a, b uint32) bool { return f(float32(s.operand(a, m)), float32(s.operand(b, m))) }
}

// Halves1 applies f to both halves of a packed pair.
func Halves1(f func(uint32) uint32) func(a uint32) uint32 {
	return func(a uint32) uint32 { return f(a&0xffff)&0xffff | f(a>>16)<<16 }
}

// Halves2 is Halves1 for two operands.
func Halves2(f func(a, b uint32) uint32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return f(a&0xffff, b&0xffff)&0xffff | f(a>>16, b>>16)<<16 }
}

// Halves3 is Halves1 for three operands.
func Halves3(f func(a, b, c uint32) uint32) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		return f(a&0xffff, b&0xffff, c&0xffff)&0xffff | f(a>>16, b>>16, c>>16)<<16
	}
}

// Pair2 applies f to both halves of a pair of float32 in 64 bits.
func Pair2(f func(a, b float32) float32) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		return pair(f(low32(a), low32(b)), f(high32(a), high32(b)))
	}
}

// Pair3 is Pair2 for three operands.
func Pair3(f func(a, b, c float32) float32) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		return pair(f(low32(a), low32(b), low32(c)), f(high32(a), high32(b), high32(c)))
	}
}

func low32(v uint64) float32  { return math.Float32frombits(uint32(v)) }
func high32(v uint64) float32 { return math.Float32frombits(uint32(v >> 32)) }
func pair(lo, hi float32) uint64 {
	return uint64(math.Float32bits(hi))<<32 | uint64(math.Float32bits(lo))
}
