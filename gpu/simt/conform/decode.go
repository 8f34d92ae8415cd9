package conform

import "math"

// Decode returns the value of the bits of a floating-point type.
func Decode(t string, v uint64) float64 {
	switch t {
	case "f64":
		return math.Float64frombits(v)
	case "bf16":
		return float64(math.Float32frombits(uint32(v) << 16))
	case "f16":
		return decodeHalf(uint32(v))
	}
	return float64(math.Float32frombits(uint32(v)))
}

func decodeHalf(v uint32) float64 {
	m, e := float64(v&0x3ff), int(v>>10&31)
	var x float64
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(m, -24)
	default:
		x = math.Ldexp(1024+m, e-25)
	}
	if v>>15 != 0 {
		return -x
	}
	return x
}

// format is the mantissa of a type and its exponents.
func format(t string) (mantissa, least, most int) {
	switch t {
	case "f64":
		return 52, -1022, 1023
	case "f16":
		return 10, -14, 15
	case "bf16":
		return 7, -126, 127
	}
	return 23, -126, 127
}

// smallest is the smallest normal number, largest the largest.
func smallest(t string) float64 {
	_, least, _ := format(t)
	return math.Ldexp(1, least)
}

func largest(t string) float64 {
	mantissa, _, most := format(t)
	return math.Ldexp(2-math.Ldexp(1, -mantissa), most)
}

// ulp is the distance of neighbours near x.
func ulp(t string, x float64) float64 {
	mantissa, least, _ := format(t)
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-1, least)-mantissa)
}
