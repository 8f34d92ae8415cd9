package input

import "math"

// Every product below is converted to float64 explicitly. The Go specification
// lets a compiler fuse x*y + z into one rounding unless the product is rounded
// by a conversion, and it does so on arm64, ppc64, s390x and riscv64: without
// the conversions the bytes would depend on the platform.

// normal turns a 64-bit draw into a standard normal deviate by inversion, from
// its upper 52 bits: p = (2k+1)/2⁵³ lies strictly inside (0, 1), is exact, and
// so is 1−p.
func normal(draw uint64) float64 {
	return quantile(float64(draw>>12<<1|1) * 0x1p-53)
}

// quantile is the standard normal quantile function for 2⁻⁵³ ≤ p ≤ 1−2⁻⁵³,
// relative accuracy about 1e-16.
//
// Wichura: Algorithm AS 241: the percentage points of the normal distribution.
// Applied Statistics 37(3), 1988, https://doi.org/10.2307/2347330 (PPND16).
func quantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q*horner(r, &centreNum)) / horner(r, &centreDen)
	}
	tail := p
	if q > 0 {
		tail = 1 - p
	}
	r := math.Sqrt(-logarithm(tail))
	var x float64
	if r <= 5 {
		x = horner(r-1.6, &tailNum) / horner(r-1.6, &tailDen)
	} else {
		x = horner(r-5, &farNum) / horner(r-5, &farDen)
	}
	if q < 0 {
		return -x
	}
	return x
}

// Coefficients of AS 241, constant term first.
var (
	centreNum = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3,
	}
	centreDen = [8]float64{
		1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3,
	}
	tailNum = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	tailDen = [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	farNum = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	farDen = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

func horner(x float64, c *[8]float64) float64 {
	y := c[7]
	for i := 6; i >= 0; i-- {
		y = float64(y*x) + c[i]
	}
	return y
}

// logarithm is the natural logarithm of a positive normal number, with a
// relative error below 6e-16. math.Log has assembly of its own on some platforms. With x = m·2ᵉ and m in
// (√½, √2], s = (m−1)/(m+1) and |s| < 0.172, log m = 2 artanh s
// = 2s (1 + s²/3 + s⁴/5 + …); the first term left out is below 1e-17.
func logarithm(x float64) float64 {
	bits := math.Float64bits(x)
	e := int(bits>>52) - 1023
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, e = m/2, e+1
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	series := 0.0
	for k := 21; k >= 3; k -= 2 {
		series = float64((series + 1/float64(k)) * z)
	}
	return float64(float64(e)*math.Ln2) + float64(float64(2*s)*(1+series))
}
