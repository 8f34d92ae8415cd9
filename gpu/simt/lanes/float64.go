package lanes

import (
	"math"
	"math/big"
)

// Add64 is add.f64, and so on for the others. Rounding to nearest is the host's;
// the directed modes are computed exactly and rounded once.
func Add64(r Rounding) func(a, b float64) float64 {
	add := directed2(r, func(a, b float64) float64 { return a + b },
		func(z, x, y *big.Float) { z.Add(x, y) })
	return func(a, b float64) float64 {
		s := add(a, b)
		if s == 0 && r == Down && (math.Signbit(a) || math.Signbit(b)) {
			return math.Copysign(0, -1) // a sum never underflows: this zero is exact
		}
		return s
	}
}

// Sub64 is sub.f64.
func Sub64(r Rounding) func(a, b float64) float64 {
	add := Add64(r)
	return func(a, b float64) float64 {
		if b != b {
			return quiet64(b, a, b)
		}
		return add(a, -b)
	}
}

// Mul64 is mul.f64.
func Mul64(r Rounding) func(a, b float64) float64 {
	return directed2(r, func(a, b float64) float64 { return a * b },
		func(z, x, y *big.Float) { z.Mul(x, y) })
}

// Div64 is div.f64.
func Div64(r Rounding) func(a, b float64) float64 {
	div := directed2(r, func(a, b float64) float64 { return a / b },
		func(z, x, y *big.Float) { z.SetPrec(quotientBits).Quo(x, y) })
	return func(a, b float64) float64 {
		if a != a {
			return quiet64(a, b, a) // there is no instruction for it: a comes first
		}
		return div(a, b)
	}
}

// Sqrt64 is sqrt.f64.
func Sqrt64(r Rounding) func(a float64) float64 {
	div := directed2(r, func(a, _ float64) float64 { return math.Sqrt(a) },
		func(z, x, _ *big.Float) { z.SetPrec(quotientBits).Sqrt(x) })
	return func(a float64) float64 { return div(a, a) }
}

// FMA64 is fma.f64.
func FMA64(r Rounding) func(a, b, c float64) float64 {
	return func(a, b, c float64) float64 {
		s := math.FMA(a, b, c)
		if s != s {
			return quiet64(b, quiet64(c, a, c-a), s)
		}
		if r == Nearest || !finite(a) || !finite(b) || !finite(c) {
			return s
		}
		z := exact(a)
		z.Mul(z, exact(b))
		z.Add(z, exact(c))
		if z.Sign() != 0 {
			return round64(z, r)
		}
		if r == Down && (math.Signbit(a) != math.Signbit(b) || math.Signbit(c)) {
			return math.Copysign(0, -1)
		}
		return s
	}
}

const (
	// exactBits holds any sum of a product of two float64 and a third.
	exactBits = 4 * 2200
	// quotientBits is enough for a quotient or root never to look like a float64
	// that it is not: they differ in at most 2·53 bits.
	quotientBits = 160
)

func exact(a float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(a) }

func finite(a float64) bool { return a-a == 0 }

// directed2 computes to nearest with near, else exactly.
func directed2(r Rounding, near func(a, b float64) float64, do func(z, x, y *big.Float)) func(a, b float64) float64 {
	return func(a, b float64) float64 {
		s := near(a, b)
		switch {
		case s != s:
			return quiet64(b, a, s)
		case r == Nearest, !finite(a), !finite(b), math.IsInf(s, 0) && b == 0:
			return s
		}
		z := new(big.Float).SetPrec(exactBits)
		do(z, exact(a), exact(b))
		if z.Sign() == 0 {
			return s
		}
		return round64(z, r)
	}
}

// round64 rounds an exact non-zero value.
func round64(z *big.Float, r Rounding) float64 {
	f, off := z.Float64() // nearest; off says on which side of z it lies
	switch {
	case r == Zero && (off == big.Above && z.Sign() > 0 || off == big.Below && z.Sign() < 0):
		return math.Nextafter(f, 0)
	case r == Down && off == big.Above:
		return math.Nextafter(f, math.Inf(-1))
	case r == Up && off == big.Below:
		return math.Nextafter(f, math.Inf(1))
	}
	if f == 0 && z.Sign() < 0 {
		return math.Copysign(0, -1)
	}
	return f
}

// quiet64 is the NaN of an operation: the first NaN operand made quiet, or the
// NaN that an invalid operation makes. The hardware takes the second factor first,
// then what is added, then the first factor.
func quiet64(a, b, s float64) float64 {
	const quiet = 1 << 51
	switch {
	case s == s:
		return s
	case a != a:
		return math.Float64frombits(math.Float64bits(a) | quiet)
	case b != b:
		return math.Float64frombits(math.Float64bits(b) | quiet)
	}
	return math.Float64frombits(0xfff8 << 48)
}

// MinMax64 is min.f64 or max.f64: NaN loses.
func MinMax64(larger bool) func(a, b float64) float64 {
	return func(a, b float64) float64 {
		switch {
		case a != a && b != b:
			return quiet64(b, a, b)
		case a != a:
			return b
		case b != b:
			return a
		case larger:
			return max(a, b)
		}
		return min(a, b)
	}
}

// Abs64 clears the sign bit, of numbers: the hardware adds, which leaves NaN.
func Abs64(a float64) float64 {
	if a != a {
		return quiet64(a, a, a)
	}
	return math.Abs(a)
}

// Neg64 flips the sign bit, of numbers.
func Neg64(a float64) float64 {
	if a != a {
		return quiet64(a, a, a)
	}
	return -a
}
