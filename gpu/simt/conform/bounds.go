package conform

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bound is the error that the PTX manual (ISA 9.0, "Floating Point Instructions"
// and "Half Precision Floating Point Instructions") allows an approximation.
type Bound struct {
	// Exact is the function, in float64.
	Exact func(a []float64) float64
	// Allowed is the absolute error allowed.
	Allowed func(a []float64, exact float64) float64
	// Open tells the operands for which the manual states nothing; nil for none.
	Open func(a []float64) bool
	// Flush says that subnormal operands and results are zeros of their sign.
	Flush bool
}

func bound(opcode string, mods []string) *Bound {
	has := func(m string) bool { return slices.Contains(mods, m) }
	if !has("approx") && !has("full") {
		return nil
	}
	b := &Bound{Flush: has("ftz")}
	one := func(f func(float64) float64) { b.Exact = func(a []float64) float64 { return f(a[0]) } }
	relative := func(e float64) { b.Allowed = func(_ []float64, exact float64) float64 { return e * math.Abs(exact) } }
	absolute := func(e float64) { b.Allowed = func([]float64, float64) float64 { return e } }
	half, brain := has("f16") || has("f16x2"), has("bf16") || has("bf16x2")
	switch opcode {
	case "div":
		b.Exact = func(a []float64) float64 { return a[0] / a[1] }
		relative(2 * 0x1p-23) // 2 ulp
		if has("approx") {
			// Its limit is for divisors of a magnitude from 2^-126 to 2^126.
			b.Open = func(a []float64) bool {
				v := math.Abs(a[1])
				return v < 0x1p128 && v > 0x1p126 || v > 0 && v < 0x1p-126
			}
		}
	case "rcp":
		one(func(a float64) float64 { return 1 / a })
		relative(0x1p-23) // 1 ulp
		if has("f64") {
			b.upperHalf() // the manual says only which bits take part
		}
	case "sqrt":
		one(math.Sqrt)
		relative(0x1p-23)
	case "rsqrt":
		one(func(a float64) float64 { return 1 / math.Sqrt(a) })
		relative(math.Exp2(-22.9))
		switch {
		case has("f64") && has("ftz"):
			b.upperHalf()
		case has("f64"): // no limit is stated; two units in the last place
			relative(0x1p-51)
		}
	case "sin", "cos":
		one(map[string]func(float64) float64{"sin": math.Sin, "cos": math.Cos}[opcode])
		b.Allowed = func(a []float64, _ float64) float64 {
			switch x := math.Abs(a[0]); {
			case x <= 2*math.Pi:
				return math.Exp2(-20.5)
			case x <= 100*math.Pi:
				return math.Exp2(-14.7)
			}
			return 0
		}
		b.Open = func(a []float64) bool { return math.Abs(a[0]) > 100*math.Pi && !math.IsInf(a[0], 0) }
	case "lg2":
		one(math.Log2)
		b.Allowed = func(a []float64, exact float64) float64 {
			if 0.5 < a[0] && a[0] < 2 {
				return 0x1p-22
			}
			return 0x1p-22 * math.Abs(exact)
		}
	case "ex2":
		one(math.Exp2)
		relative(0x1p-22) // 2 ulp
		if half {
			relative(math.Exp2(-9.9))
		} else if brain {
			relative(0x1p-7)
		}
	case "tanh":
		one(math.Tanh)
		relative(0x1p-11)
		if half {
			absolute(math.Exp2(-10.987))
		} else if brain {
			absolute(0x1p-8)
		}
	}
	return b
}

// upperHalf is of the .approx.ftz.f64 functions, which read and write the upper 32
// bits: 20 bits of mantissa on either side.
func (b *Bound) upperHalf() {
	exact := b.Exact
	b.Exact = func(a []float64) float64 {
		return exact([]float64{math.Float64frombits(math.Float64bits(a[0]) &^ (1<<32 - 1))})
	}
	b.Allowed = func(_ []float64, e float64) float64 { return 0x1p-19 * math.Abs(e) }
}

// Check compares a result with the exact value, for operands as bits.
func (f Form) Check(operands []uint64, result uint64) error {
	t := f.Results[0]
	if strings.HasSuffix(t, "x2") {
		low := make([]uint64, len(operands))
		high := make([]uint64, len(operands))
		for i, v := range operands {
			low[i], high[i] = v&0xffff, v>>16
		}
		t = strings.TrimSuffix(t, "x2")
		if err := f.Bound.check(t, low, result&0xffff); err != nil {
			return err
		}
		return f.Bound.check(t, high, result>>16)
	}
	return f.Bound.check(t, operands, result)
}

func (b *Bound) check(t string, operands []uint64, result uint64) error {
	a := make([]float64, len(operands))
	for i, v := range operands {
		a[i] = Decode(t, v)
		if b.Flush && math.Abs(a[i]) < smallest(t) {
			a[i] = math.Copysign(0, a[i])
		}
	}
	if b.Open != nil && b.Open(a) {
		return nil
	}
	got, exact := Decode(t, result), b.Exact(a)
	switch {
	case exact != exact && got != got:
		return nil
	case got == exact:
		if got == 0 && math.Signbit(got) != math.Signbit(exact) {
			return fmt.Errorf("a zero of the wrong sign")
		}
		return nil
	case math.IsInf(exact, 0) || exact != exact || got != got:
		return fmt.Errorf("%v, want %v", got, exact)
	}
	allowed := b.Allowed(a, exact)
	// The result is rounded to the format, in which subnormals may be zeros.
	last := ulp(t, exact)
	if b.Flush && math.Abs(exact) < 2*smallest(t) {
		last = smallest(t)
	}
	if math.IsInf(got, 0) && math.Signbit(got) == math.Signbit(exact) && math.Abs(exact)+max(allowed, last) >= largest(t) {
		return nil // an overflow
	}
	if d := math.Abs(got - exact); !(d <= max(allowed, last)) {
		return fmt.Errorf("%v, want %v: off by %.3g, allowed is %.3g", got, exact, d, max(allowed, last))
	}
	return nil
}
