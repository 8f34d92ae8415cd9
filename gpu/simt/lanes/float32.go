package lanes

import "math"

// Mode is what a floating-point instruction asks for beside its operation.
type Mode struct {
	Rounding Rounding
	// Flush replaces subnormal operands and results by zeros of their sign (.ftz).
	Flush bool
	// Saturate clamps to [0,1], NaN to 0 (.sat).
	Saturate bool
}

func (m Mode) plain() bool { return m == Mode{} }

var nan32 = math.Float32frombits(NaN32)

// finish32 applies what follows the rounding.
func (m Mode) finish32(r float32) float32 {
	if r != r {
		if m.Saturate {
			return 0
		}
		return nan32
	}
	if m.Flush {
		r = Flush32(r)
	}
	if m.Saturate {
		return min(max(r, 0), 1)
	}
	return r
}

// Flush32 replaces a subnormal by a zero of its sign.
func Flush32(a float32) float32 {
	b := math.Float32bits(a)
	if b&0x7f800000 == 0 {
		return math.Float32frombits(b & (1 << 31))
	}
	return a
}

func (m Mode) operand32(a float32) float64 {
	if m.Flush {
		a = Flush32(a)
	}
	return float64(a)
}

// Add32 is add.f32, Sub32 sub.f32, and so on: each returns the Op for a mode.
func Add32(m Mode) Op {
	if m.plain() {
		return Binary(addF32)
	}
	return Each2(func(a, b float32) float32 { return m.sum32(m.operand32(a), m.operand32(b)) })
}

// Sub32 is sub.f32.
func Sub32(m Mode) Op {
	if m.plain() {
		return Binary(subF32)
	}
	return Each2(func(a, b float32) float32 { return m.sum32(m.operand32(a), -m.operand32(b)) })
}

// Mul32 is mul.f32.
func Mul32(m Mode) Op {
	if m.plain() {
		return Binary(mulF32)
	}
	return Each2(func(a, b float32) float32 {
		// The product of two float32 is exact in float64.
		return m.finish32(Narrow32(m.operand32(a)*m.operand32(b), m.Rounding))
	})
}

// FMA32 is fma.f32.
func FMA32(m Mode) Op {
	if m.plain() {
		return Ternary(fmaF32)
	}
	return Each3(func(a, b, c float32) float32 {
		return m.sum32(m.operand32(a)*m.operand32(b), m.operand32(c))
	})
}

// sum32 rounds the sum of two values that float64 holds exactly.
func (m Mode) sum32(a, b float64) float32 {
	s := sumOdd(a, b)
	if s == 0 && m.Rounding == Down && (math.Signbit(a) || math.Signbit(b)) {
		return m.finish32(float32(math.Copysign(0, -1)))
	}
	return m.finish32(Narrow32(s, m.Rounding))
}

// Div32 is div.f32 with IEEE rounding.
func Div32(m Mode) func(a, b float32) float32 {
	return func(a, b float32) float32 {
		x, y := m.operand32(a), m.operand32(b)
		q := x / y
		if m.Rounding == Nearest {
			// 53 bits are enough for rounding twice to be harmless: at least 2·24 + 2.
			return m.finish32(float32(q))
		}
		r := math.FMA(-q, y, x)
		if y < 0 {
			r = -r
		}
		return m.finish32(Narrow32(odd(q, r), m.Rounding))
	}
}

// Sqrt32 is sqrt.f32 with IEEE rounding.
func Sqrt32(m Mode) func(a float32) float32 {
	return func(a float32) float32 {
		x := m.operand32(a)
		s := math.Sqrt(x)
		return m.finish32(Narrow32(odd(s, math.FMA(-s, s, x)), m.Rounding))
	}
}

func addF32(d, a, b *[Width]float32) {
	for i := range d {
		r := a[i] + b[i]
		if r != r {
			r = nan32
		}
		d[i] = r
	}
}

func subF32(d, a, b *[Width]float32) {
	for i := range d {
		r := a[i] - b[i]
		if r != r {
			r = nan32
		}
		d[i] = r
	}
}

func mulF32(d, a, b *[Width]float32) {
	for i := range d {
		r := a[i] * b[i]
		if r != r {
			r = nan32
		}
		d[i] = r
	}
}

// fmaF32 adds in float64, where the product is exact, and rounds again. Rounding
// twice can only go wrong when the first result lies halfway between two float32,
// or where float32 is subnormal; those are computed with care.
func fmaF32(d, a, b, c *[Width]float32) {
	for i := range d {
		p, z := float64(a[i])*float64(b[i]), float64(c[i])
		s := p + z
		bits := math.Float64bits(s)
		const smallest, largest = 1023 - 126, 0x7ff
		if uint32(bits)&0x1fffffff == 0x10000000 || uint32(bits>>52)&0x7ff-smallest >= largest-smallest {
			d[i] = fmaSlow(p, z, s)
			continue
		}
		d[i] = float32(s)
	}
}

func fmaSlow(p, c, s float64) float32 {
	if s == 0 {
		return float32(s) // exact, for float64 does not underflow here
	}
	if s != s {
		return nan32
	}
	return float32(sumOdd(p, c))
}

// MinMax32 is min.f32 or max.f32: NaN loses, unless keepNaN (.NaN), and -0 is
// below +0. With xor (.xorsign.abs) magnitudes are compared and the sign is the
// product's.
func MinMax32(larger, flush, keepNaN, xor bool) func(a, b float32) float32 {
	return func(a, b float32) float32 {
		if flush {
			a, b = Flush32(a), Flush32(b)
		}
		sign := (math.Float32bits(a) ^ math.Float32bits(b)) & (1 << 31)
		if xor {
			a, b = abs32(a), abs32(b)
		}
		r := pick32(a, b, larger)
		if a != a || b != b {
			switch {
			case keepNaN || a != a && b != b:
				return nan32
			case a != a:
				r = b
			default:
				r = a
			}
		}
		if xor {
			return math.Float32frombits(math.Float32bits(r) | sign)
		}
		return r
	}
}

// Extremum32 is MinMax32 without modifiers.
func Extremum32(larger bool) Op {
	either := MinMax32(larger, false, false, false)
	if larger {
		return Binary(func(d, a, b *[Width]float32) {
			for i := range d {
				r := max(a[i], b[i])
				if r != r {
					r = either(a[i], b[i])
				}
				d[i] = r
			}
		})
	}
	return Binary(func(d, a, b *[Width]float32) {
		for i := range d {
			r := min(a[i], b[i])
			if r != r {
				r = either(a[i], b[i])
			}
			d[i] = r
		}
	})
}

// pick32 is Go's min or max: both order the zeros as IEEE 754-2019 does.
func pick32(a, b float32, larger bool) float32 {
	if larger {
		return max(a, b)
	}
	return min(a, b)
}

func abs32(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) }

// Abs32 and Neg32 change the sign bit only, after flushing. Any NaN becomes the
// canonical one: the hardware adds.
func Abs32(flush bool) func(a float32) float32 {
	return func(a float32) float32 {
		if a != a {
			return nan32
		}
		if flush {
			a = Flush32(a)
		}
		return abs32(a)
	}
}

// Neg32 is neg.f32.
func Neg32(flush bool) func(a float32) float32 {
	return func(a float32) float32 {
		if a != a {
			return nan32
		}
		if flush {
			a = Flush32(a)
		}
		return math.Float32frombits(math.Float32bits(a) ^ 1<<31)
	}
}

// Scalar32 returns sum, product and fused product of one lane.
func Scalar32(m Mode) (sum, product func(a, b float32) float32, fused func(a, b, c float32) float32) {
	sum = func(a, b float32) float32 { return m.sum32(m.operand32(a), m.operand32(b)) }
	product = func(a, b float32) float32 {
		return m.finish32(Narrow32(m.operand32(a)*m.operand32(b), m.Rounding))
	}
	fused = func(a, b, c float32) float32 {
		return m.sum32(m.operand32(a)*m.operand32(b), m.operand32(c))
	}
	return sum, product, fused
}
