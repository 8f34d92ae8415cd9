package lanes

import "math"

// Pairs of f16 and bf16 without modifiers are computed in float32, where a product
// of two of them is exact, and rounded once more. That can only go wrong when the
// first rounding ends halfway between two numbers of the format. Such results,
// subnormals, infinities and NaN are computed again with care.

// half32 is the value of the f16 in the low 16 bits, if that is finite.
func half32(v uint32) float32 {
	scaled := math.Float32frombits(v&0x7fff<<13) * 0x1p112
	return math.Float32frombits(math.Float32bits(scaled) | v&0x8000<<16)
}

// brain32 is the value of the bf16 in the low 16 bits.
func brain32(v uint32) float32 { return math.Float32frombits(v << 16) }

// allFinite tells the pairs of f16 without infinities and NaN: those have all bits
// of the exponent.
func allFinite(a, b, c uint32) bool {
	const exponent, one = 0x7c007c00, 0x04000400
	return ((a&exponent+one)|(b&exponent+one)|(c&exponent+one))&0x80008000 == 0
}

// roundHalf rounds to f16, and reports whether the result can be trusted.
func roundHalf(f float32) (uint32, bool) {
	b := math.Float32bits(f)
	m := b & 0x7fffffff
	if m == 0 {
		return b >> 16, true
	}
	return b>>16&0x8000 | ((m+0xfff+m>>13&1)>>13 - 112<<10), m-113<<23 < 29<<23 && b&0x1fff != 0x1000
}

// roundBrain rounds to bf16, and reports whether the result can be trusted.
func roundBrain(f float32) (uint32, bool) {
	b := math.Float32bits(f)
	if b<<1 == 0 {
		return b >> 16, true
	}
	return (b + 0x7fff + b>>16&1) >> 16, b&0x7fffffff-1<<23 < 253<<23 && b&0xffff != 0x8000
}

// Pair16 returns add, mul and fma of pairs in a format, to nearest and without
// modifiers.
func Pair16(f Format) (add, mul, fma Op) {
	s := Small{f}
	slowAdd, slowMul, slowFMA := Halves2(s.Add(SmallMode{})), Halves2(s.Mul(SmallMode{})), Halves3(s.FMA(SmallMode{}))
	if f == Brain {
		return brainPairs(slowAdd, slowMul, slowFMA)
	}
	add = Binary(func(d, a, b *[Width]uint32) {
		for i := range d {
			x, y := a[i], b[i]
			lo, ok := roundHalf(half32(x) + half32(y))
			hi, ok2 := roundHalf(half32(x>>16) + half32(y>>16))
			d[i] = lo | hi<<16
			if !ok || !ok2 || !allFinite(x, y, 0) {
				d[i] = slowAdd(x, y)
			}
		}
	})
	mul = Binary(func(d, a, b *[Width]uint32) {
		for i := range d {
			x, y := a[i], b[i]
			lo, ok := roundHalf(half32(x) * half32(y))
			hi, ok2 := roundHalf(half32(x>>16) * half32(y>>16))
			d[i] = lo | hi<<16
			if !ok || !ok2 || !allFinite(x, y, 0) {
				d[i] = slowMul(x, y)
			}
		}
	})
	fma = Ternary(func(d, a, b, c *[Width]uint32) {
		for i := range d {
			x, y, z := a[i], b[i], c[i]
			lo, ok := roundHalf(half32(x)*half32(y) + half32(z))
			hi, ok2 := roundHalf(half32(x>>16)*half32(y>>16) + half32(z>>16))
			d[i] = lo | hi<<16
			if !ok || !ok2 || !allFinite(x, y, z) {
				d[i] = slowFMA(x, y, z)
			}
		}
	})
	return add, mul, fma
}

// brainPairs is Pair16 of bf16, whose infinities and NaN are those of float32.
func brainPairs(slowAdd, slowMul func(a, b uint32) uint32, slowFMA func(a, b, c uint32) uint32) (add, mul, fma Op) {
	add = Binary(func(d, a, b *[Width]uint32) {
		for i := range d {
			x, y := a[i], b[i]
			lo, ok := roundBrain(brain32(x) + brain32(y))
			hi, ok2 := roundBrain(brain32(x>>16) + brain32(y>>16))
			d[i] = lo | hi<<16
			if !ok || !ok2 {
				d[i] = slowAdd(x, y)
			}
		}
	})
	mul = Binary(func(d, a, b *[Width]uint32) {
		for i := range d {
			x, y := a[i], b[i]
			lo, ok := roundBrain(brain32(x) * brain32(y))
			hi, ok2 := roundBrain(brain32(x>>16) * brain32(y>>16))
			d[i] = lo | hi<<16
			if !ok || !ok2 {
				d[i] = slowMul(x, y)
			}
		}
	})
	fma = Ternary(func(d, a, b, c *[Width]uint32) {
		for i := range d {
			x, y, z := a[i], b[i], c[i]
			lo, ok := roundBrain(brain32(x)*brain32(y) + brain32(z))
			hi, ok2 := roundBrain(brain32(x>>16)*brain32(y>>16) + brain32(z>>16))
			d[i] = lo | hi<<16
			// A product may have become zero, or a subnormal: its sign counts.
			if !ok || !ok2 || lo<<17 == 0 && x<<17 != 0 && y<<17 != 0 || hi<<17 == 0 && x>>16<<17 != 0 && y>>16<<17 != 0 {
				d[i] = slowFMA(x, y, z)
			}
		}
	})
	return add, mul, fma
}
