package lanes

import "math"

// ToSigned32 is cvt.s32.f32, as ToInteger states it.
func ToSigned32(mode Rounding) Op {
	round := integral32(mode)
	return Unary(func(d *[Width]int32, a *[Width]float32) {
		for i := range d {
			v := round(a[i])
			switch {
			case v >= 0x1p31:
				d[i] = math.MaxInt32
			case v >= -0x1p31:
				d[i] = int32(v)
			case v != v:
				d[i] = 0
			default:
				d[i] = math.MinInt32
			}
		}
	})
}

// ToUnsigned32 is cvt.u32.f32.
func ToUnsigned32(mode Rounding) Op {
	round := integral32(mode)
	return Unary(func(d *[Width]uint32, a *[Width]float32) {
		for i := range d {
			v := round(a[i])
			switch {
			case v >= 0x1p32:
				d[i] = math.MaxUint32
			case v > 0:
				d[i] = uint32(int64(v))
			default: // NaN as well
				d[i] = 0
			}
		}
	})
}

// integral32 rounds to an integral value, for a conversion that truncates.
func integral32(mode Rounding) func(float32) float64 {
	switch mode {
	case Zero:
		return func(a float32) float64 { return float64(a) }
	case Nearest:
		return func(a float32) float64 {
			const whole = 0x1.8p52 // whose last bit is worth 1: adding it rounds
			if x := float64(a); x < 0x1p51 && x > -0x1p51 {
				return x + whole - whole
			}
			return float64(a)
		}
	}
	return func(a float32) float64 { return Integral(float64(a), mode) }
}

// FromHalf is cvt.f32.f16, ToHalf cvt.rn.f16.f32; FromBrain and ToBrain are of bf16.
func FromHalf() Op {
	return Unary(func(d *[Width]float32, a *[Width]uint32) {
		for i, v := range a {
			d[i] = half32(v)
			if v&0x7c00 == 0x7c00 {
				d[i] = fromSmall(Half, v)
			}
		}
	})
}

// ToHalf is cvt.rn.f16.f32.
func ToHalf() Op {
	return Unary(func(d *[Width]uint32, a *[Width]float32) {
		for i, v := range a {
			r, ok := roundHalf(v)
			if !ok {
				r = Half.Encode(float64(v), Nearest, false)
			}
			d[i] = r
		}
	})
}

// FromBrain is cvt.f32.bf16, which moves bits.
func FromBrain() Op {
	return Unary(func(d, a *[Width]uint32) {
		for i, v := range a {
			d[i] = v << 16
		}
	})
}

// ToBrain is cvt.rn.bf16.f32.
func ToBrain() Op {
	return Unary(func(d *[Width]uint32, a *[Width]float32) {
		for i, v := range a {
			r, ok := roundBrain(v)
			if !ok {
				r = Brain.Encode(float64(v), Nearest, false)
			}
			d[i] = r
		}
	})
}

// ToPair is cvt.rn of two float32 to f16x2 or bf16x2, the first in the upper half.
func ToPair(f Format) Op {
	if f == Brain {
		return Binary(func(d *[Width]uint32, a, b *[Width]float32) {
			for i := range d {
				hi, ok := roundBrain(a[i])
				lo, ok2 := roundBrain(b[i])
				d[i] = lo | hi<<16
				if !ok || !ok2 {
					d[i] = f.Encode(float64(b[i]), Nearest, false) | f.Encode(float64(a[i]), Nearest, false)<<16
				}
			}
		})
	}
	return Binary(func(d *[Width]uint32, a, b *[Width]float32) {
		for i := range d {
			hi, ok := roundHalf(a[i])
			lo, ok2 := roundHalf(b[i])
			d[i] = lo | hi<<16
			if !ok || !ok2 {
				d[i] = f.Encode(float64(b[i]), Nearest, false) | f.Encode(float64(a[i]), Nearest, false)<<16
			}
		}
	})
}

func fromSmall(f Format, v uint32) float32 {
	x := f.Decode(v)
	if x != x {
		return nan32
	}
	return float32(x)
}
