package lanes

import "math"

// The approximations below round a result in float64: the manual bounds their
// errors and leaves the bits open.

// Approx32 lifts a float64 function with the special values that the manual lists.
func Approx32(f func(float64) float64, flush bool) Op {
	if flush {
		m := Mode{Flush: true}
		return Each1(func(a float32) float32 { return m.finish32(float32(f(m.operand32(a)))) })
	}
	return Unary(func(d, a *[Width]float32) {
		// Widening and the function are loops of their own: a conversion waits for the
		// register that it writes, which would tie each lane to the one before.
		var x [Width]float64
		for i, v := range a {
			x[i] = float64(v)
		}
		for i, v := range x {
			x[i] = f(v)
		}
		for i, v := range x {
			r := float32(v)
			if r != r {
				r = nan32
			}
			d[i] = r
		}
	})
}

// Rsqrt is 1/√a.
func Rsqrt(a float64) float64 {
	if a == 0 {
		return math.Copysign(math.Inf(1), a)
	}
	return 1 / math.Sqrt(a)
}

// Reciprocal is 1/a.
func Reciprocal(a float64) float64 { return 1 / a }

// DivApprox is div.approx.f32: divisors beyond 2¹²⁶ give zero, or NaN for an
// infinite dividend.
func DivApprox(flush bool) func(a, b float32) float32 {
	m := Mode{Flush: flush}
	return func(a, b float32) float32 {
		x, y := m.operand32(a), m.operand32(b)
		if v := math.Abs(y); v > 0x1p126 && v < 0x1p128 {
			if math.IsInf(x, 0) {
				return nan32
			}
			if x == x {
				return float32(math.Copysign(0, x) * math.Copysign(1, y))
			}
		}
		return m.finish32(float32(x / y))
	}
}

// CopySign32 is copysign: b with the sign of a.
func CopySign32(a, b float32) float32 {
	return math.Float32frombits(math.Float32bits(b)&^(1<<31) | math.Float32bits(a)&(1<<31))
}

// CopySign64 is b with the sign of a.
func CopySign64(a, b float64) float64 { return math.Copysign(b, a) }

// Class is a property that testp asks for, nil for an unknown one.
func Class(property string, smallest float64) func(a float64) bool {
	switch property {
	case "finite":
		return finite
	case "infinite":
		return func(a float64) bool { return math.IsInf(a, 0) }
	case "number":
		return func(a float64) bool { return a == a }
	case "notanumber":
		return func(a float64) bool { return a != a }
	case "normal":
		return func(a float64) bool { return finite(a) && (math.Abs(a) >= smallest || a == 0) }
	case "subnormal": // zeros are normal
		return func(a float64) bool { return math.Abs(a) < smallest && a != 0 }
	}
	return nil
}

// The smallest normal numbers, for Class.
const (
	SmallestNormal32 = 0x1p-126
	SmallestNormal64 = 0x1p-1022
)

// ApproxHigh is the .approx.ftz.f64 form of a function: it reads and writes the
// upper 32 bits of its operands, and flushes subnormals.
func ApproxHigh(f func(float64) float64) func(float64) float64 {
	const high = 0xffffffff_00000000
	flush := func(a float64) float64 {
		if math.Abs(a) < SmallestNormal64 {
			return math.Copysign(0, a)
		}
		return a
	}
	return func(a float64) float64 {
		a = math.Float64frombits(math.Float64bits(a) & high)
		r := flush(f(flush(a)))
		return math.Float64frombits(math.Float64bits(r) & high)
	}
}
