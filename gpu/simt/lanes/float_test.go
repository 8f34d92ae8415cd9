package lanes

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// operand32 draws float32 operands of every kind: random bits, small exponents,
// few bits set, and special values.
func operand32(r *rand.Rand) float32 {
	switch r.IntN(6) {
	case 0:
		return math.Float32frombits(r.Uint32())
	case 1: // subnormal or nearly
		return math.Float32frombits(r.Uint32()&0x80ffffff | r.Uint32()&3<<23)
	case 2: // few bits, near 1: ties are frequent
		return math.Float32frombits(r.Uint32()&0x80000000 | (120+r.Uint32N(14))<<23 | r.Uint32N(8)<<20 | r.Uint32N(4))
	case 3:
		return []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, math.SmallestNonzeroFloat32,
			float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1p-126}[r.IntN(10)]
	case 4:
		return float32(r.IntN(1 << 12))
	}
	return float32(r.NormFloat64())
}

// round is math/big's rounding of an exact value to float32, an independent path.
func round(z *big.Float, mode Rounding) float32 {
	f, off := z.Float32()
	switch {
	case mode == Zero && (off == big.Above && z.Sign() > 0 || off == big.Below && z.Sign() < 0):
		return math.Nextafter32(f, 0)
	case mode == Down && off == big.Above:
		return math.Nextafter32(f, float32(math.Inf(-1)))
	case mode == Up && off == big.Below:
		return math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

func precise(x float32) *big.Float { return new(big.Float).SetPrec(1200).SetFloat64(float64(x)) }

func finite32(v ...float32) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

var modes = []Rounding{Nearest, Zero, Down, Up}

func TestFloat32AgainstExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 400_000
	if testing.Short() {
		n = 40_000
	}
	for range n {
		a, b, c := operand32(r), operand32(r), operand32(r)
		if !finite32(a, b, c) {
			continue
		}
		mode := modes[r.IntN(4)]
		m := Mode{Rounding: mode}
		sum, product, fused := Scalar32(m)
		z := new(big.Float).SetPrec(1200)
		compare := func(name string, got float32, exact *big.Float) {
			if exact.Sign() == 0 {
				return // the sign of zero has a test of its own
			}
			if want := round(exact, mode); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("%s of %x, %x, %x in mode %d: %x, want %x", name, a, b, c, mode, got, want)
			}
		}
		compare("sum", sum(a, b), z.Add(precise(a), precise(b)))
		compare("product", product(a, b), z.Mul(precise(a), precise(b)))
		z.Mul(precise(a), precise(b))
		compare("fma", fused(a, b, c), z.Add(z, precise(c)))
		if b != 0 {
			compare("quotient", Div32(m)(a, b), z.Quo(precise(a), precise(b)))
		}
		if a > 0 {
			compare("root", Sqrt32(m)(a), z.Sqrt(precise(a)))
		}
	}
}

// TestVectorFMA compares the fast vector with the scalar, which is checked above.
func TestVectorFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	_, _, fused := Scalar32(Mode{})
	for range 20_000 {
		var a, b, c, d [Width]float32
		for i := range a {
			a[i], b[i], c[i] = operand32(r), operand32(r), operand32(r)
		}
		fmaF32(&d, &a, &b, &c)
		for i := range d {
			if want := fused(a[i], b[i], c[i]); math.Float32bits(d[i]) != math.Float32bits(want) {
				t.Fatalf("fma(%x, %x, %x) = %x, want %x", a[i], b[i], c[i], d[i], want)
			}
		}
	}
}

func TestSignOfZero(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for _, mode := range modes {
		sum, _, fused := Scalar32(Mode{Rounding: mode})
		want := mode == Down
		for name, got := range map[string]float32{"1-1": sum(1, -1), "0+-0": sum(0, negative), "1·1-1": fused(1, 1, -1)} {
			if got != 0 || math.Signbit(float64(got)) != want {
				t.Errorf("%s in mode %d: %v", name, mode, got)
			}
			if g := Add64(mode)(1, -1); math.Signbit(g) != want {
				t.Errorf("1-1 of float64 in mode %d: %v", mode, g)
			}
		}
		if got := sum(negative, negative); !math.Signbit(float64(got)) {
			t.Errorf("-0 + -0 in mode %d: %v", mode, got)
		}
		if got := sum(0, 0); math.Signbit(float64(got)) {
			t.Errorf("0 + 0 in mode %d: %v", mode, got)
		}
	}
}

func TestFloat64Directed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	draw := func() float64 {
		if r.IntN(3) == 0 {
			return math.Float64frombits(r.Uint64()&^(0x7ff<<52) | uint64(r.IntN(60))<<52) // tiny
		}
		return r.NormFloat64()
	}
	for range 20_000 {
		a, b, c := draw(), draw(), draw()
		for name, f := range map[string]func(Rounding) float64{
			"sum": func(m Rounding) float64 { return Add64(m)(a, b) }, "difference": func(m Rounding) float64 { return Sub64(m)(a, b) },
			"product": func(m Rounding) float64 { return Mul64(m)(a, b) }, "quotient": func(m Rounding) float64 { return Div64(m)(a, b) },
			"fma": func(m Rounding) float64 { return FMA64(m)(a, b, c) }, "root": func(m Rounding) float64 { return Sqrt64(m)(math.Abs(a)) },
		} {
			// Down and up bracket the exact value: they are equal, or neighbours of
			// which the nearest and the one towards zero are each one.
			n, z, d, u := f(Nearest), f(Zero), f(Down), f(Up)
			towards := d
			if u <= 0 && d < 0 {
				towards = u
			}
			if d != u && math.Nextafter(d, math.Inf(1)) != u || n != d && n != u || z != towards {
				t.Fatalf("%s of %x, %x, %x: nearest %x, zero %x, down %x, up %x", name, a, b, c, n, z, d, u)
			}
		}
	}
}

// TestFormatsRoundToTheNearestValue compares Encode with a search among all values
// of the format.
func TestFormatsRoundToTheNearestValue(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for name, f := range map[string]Format{"f16": Half, "bf16": Brain, "e5m2": E5M2, "e4m3": E4M3} {
		bits := 1 + f.Exponent + f.Mantissa
		for v := uint32(0); v < 1<<bits; v++ {
			x := f.Decode(v)
			if x != x {
				continue
			}
			for _, mode := range append(modes, NearestAway) {
				if got := f.Encode(x, mode, false); got != v {
					t.Fatalf("%s: %#x is %v, which encodes to %#x in mode %d", name, v, x, got, mode)
				}
			}
		}
		for range 50_000 {
			v := r.Uint32N(f.largest())
			lo, hi := f.Decode(v), f.Decode(v+1)
			x := lo + (hi-lo)*[]float64{0.5, 0.25, 0.75, r.Float64(), 0x1p-30, 1 - 0x1p-30}[r.IntN(6)]
			want := map[Rounding]uint32{Zero: v, Down: v, Up: v + 1, Nearest: v, NearestAway: v}
			if x == lo {
				want[Up] = v
			}
			switch middle := lo + (hi-lo)/2; {
			case x > middle:
				want[Nearest], want[NearestAway] = v+1, v+1
			case x == middle:
				want[Nearest], want[NearestAway] = v+v&1, v+1
			}
			if x == hi {
				continue
			}
			sign := uint32(1) << (bits - 1)
			for mode, w := range want {
				if got := f.Encode(x, mode, false); got != w {
					t.Fatalf("%s: %v in mode %d is %#x, want %#x", name, x, mode, got, w)
				}
				mirrored := map[Rounding]Rounding{Down: Up, Up: Down, Zero: Zero, Nearest: Nearest, NearestAway: NearestAway}[mode]
				if got := f.Encode(-x, mirrored, false); got != w|sign {
					t.Fatalf("%s: %v in mode %d is %#x, want %#x", name, -x, mirrored, got, w|sign)
				}
			}
		}
	}
}

// TestHalfFMA compares with exact arithmetic, rounded once.
func TestHalfFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, f := range []Format{Half, Brain} {
		s := Small{f}
		for range 100_000 {
			a, b, c := r.Uint32()&0xffff, r.Uint32()&0xffff, r.Uint32()&0xffff
			x, y, w := f.Decode(a), f.Decode(b), f.Decode(c)
			if x-x != 0 || y-y != 0 || w-w != 0 {
				continue
			}
			z := new(big.Float).SetPrec(1200).SetFloat64(x)
			z.Mul(z, new(big.Float).SetPrec(1200).SetFloat64(y))
			z.Add(z, new(big.Float).SetPrec(1200).SetFloat64(w))
			if z.Sign() == 0 {
				continue
			}
			// Of 53 bits rounded to odd nothing is lost for what is rounded next.
			toward := new(big.Float).SetPrec(53).SetMode(big.ToZero).Set(z)
			v, _ := toward.Float64()
			if toward.Cmp(z) != 0 {
				v = math.Float64frombits(math.Float64bits(v) | 1)
			}
			if got, want := s.FMA(SmallMode{})(a, b, c), f.Encode(v, Nearest, false); got != want {
				t.Fatalf("fma of %#x, %#x, %#x in %+v: %#x, want %#x", a, b, c, f, got, want)
			}
		}
	}
}

func TestToInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 100_000 {
		x := math.Ldexp(r.NormFloat64(), r.IntN(70))
		width := []int{8, 16, 32, 64}[r.IntN(4)]
		signed := r.IntN(2) == 0
		mode := modes[r.IntN(4)]
		whole, _ := new(big.Float).SetFloat64(Integral(x, mode)).Int(nil)
		lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(width))
		if signed {
			hi.Rsh(hi, 1)
			lo.Neg(hi)
		}
		hi.Sub(hi, big.NewInt(1))
		if whole.Cmp(lo) < 0 {
			whole = lo
		} else if whole.Cmp(hi) > 0 {
			whole = hi
		}
		mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1))
		if got, want := ToInteger(width, signed, false, mode)(x), new(big.Int).And(whole, mask).Uint64(); got != want {
			t.Fatalf("%v to %d bits, signed %v, mode %d: %#x, want %#x", x, width, signed, mode, got, want)
		}
	}
}

func BenchmarkHalfFMA(b *testing.B) {
	f := Small{Half}.FMA(SmallMode{})
	var sink uint32
	for i := range b.N {
		sink += f(uint32(i)&0x7bff, 0x3c00, 0x3555)
	}
	_ = sink
}
