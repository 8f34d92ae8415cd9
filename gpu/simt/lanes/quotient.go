package lanes

import "math"

// Quotient32 is div.f32. In plain mode the host's division is the same.
func Quotient32(m Mode) Op {
	if !m.plain() {
		return Each2(Div32(m))
	}
	return Binary(func(d, a, b *[Width]float32) {
		for i := range d {
			r := a[i] / b[i]
			if r != r {
				r = nan32
			}
			d[i] = r
		}
	})
}

// Reciprocal32 is rcp.f32.
func Reciprocal32(m Mode) Op {
	if !m.plain() {
		div := Div32(m)
		return Each1(func(a float32) float32 { return div(1, a) })
	}
	return Unary(func(d, a *[Width]float32) {
		for i := range d {
			r := 1 / a[i]
			if r != r {
				r = nan32
			}
			d[i] = r
		}
	})
}

// Root32 is sqrt.f32. Rounding a root in float64 again is harmless: 53 bits are at
// least 2·24 + 2.
func Root32(m Mode) Op {
	if !m.plain() {
		return Each1(Sqrt32(m))
	}
	return Unary(func(d, a *[Width]float32) {
		for i := range d {
			r := float32(math.Sqrt(float64(a[i])))
			if r != r {
				r = nan32
			}
			d[i] = r
		}
	})
}
