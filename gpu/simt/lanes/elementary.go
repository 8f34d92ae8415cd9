package lanes

import "math"

// Elementary functions for results of float32: their relative error is below 2^-40,
// so that rounding gives the nearest float32 but once in some ten thousand times,
// and then its neighbour. Package math's take several times as long.

const (
	expSteps = 64 // entries of the table of 2^x between 0 and 1
	logSteps = 64 // entries of the tables of log2 between 1 and 2
	// tanhSteps are the entries of the table of tanh per unit, up to tanhEnd, beyond
	// which it rounds to 1 in float32.
	tanhSteps, tanhEnd = 32, 10
	// shifter, added to a float64 and taken away, rounds it to an integer, which its
	// low bits then hold.
	shifter = 0x1.8p52
)

// elementary are the tables.
type elementary struct {
	exp2         [expSteps]float64
	inverse, log [logSteps + 1]float64
	tanh         [tanhEnd*tanhSteps + 1][7]float64
}

var tables = newTables()

func newTables() *elementary {
	t := &elementary{}
	for i := range t.exp2 {
		t.exp2[i] = math.Exp2(float64(i) / expSteps)
	}
	for i := range t.log {
		// The middle of a step; at both ends exactly 1, so that logarithms near 0
		// keep their digits.
		m := 1 + float64(i)/logSteps
		t.inverse[i], t.log[i] = 1/m, math.Log2(m)
	}
	for i := range t.tanh {
		t.tanh[i] = tanhSeries(math.Tanh(float64(i) / tanhSteps))
	}
	t.inverse[logSteps], t.log[logSteps] = 0.5, 1
	return t
}

// Exp2 is 2^x; beyond the range of float32 it is 0 or an infinity.
func Exp2(x float64) float64 {
	if !(x > -160 && x < 160) {
		switch {
		case x >= 160:
			return math.Inf(1)
		case x <= -160:
			return 0
		}
		return x
	}
	// x = n/64 + f: 2^f by its Taylor series, which |f| <= 1/128 leaves at 2^-50.
	n := x*expSteps + shifter
	f := (x - (n-shifter)/expSteps) * math.Ln2
	f2 := f * f
	p := (1 + f) + f2*((1./2+f*(1./6))+f2*(1./24+f*(1./120)))
	k := int64(math.Float64bits(n)) // n in its low bits
	scale := uint64(k>>6+1023) << 52
	return tables.exp2[k&(expSteps-1)] * p * math.Float64frombits(scale)
}

// Log2 is the logarithm of a float32, as a float64.
func Log2(x float64) float64 {
	b := math.Float64bits(x)
	if !(x > 0) || b>>52 == 0x7ff {
		return math.Log2(x)
	}
	e := int64(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	i := int((b>>(52-7)&127 + 1) >> 1) // the nearest step
	r := m*tables.inverse[i] - 1
	r2 := r * r
	s := r * ((1 - r*(1./2)) + r2*((1./3-r*(1./4))+r2*((1./5-r*(1./6))+r2*(1./7))))
	return float64(e) + tables.log[i] + s*math.Log2E
}

// Tanh is the hyperbolic tangent: its Taylor series at the nearest of the steps, at
// which the table holds the coefficients.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	if !(a < tanhEnd) {
		if a >= tanhEnd {
			return math.Copysign(1, x)
		}
		return x
	}
	n := a*tanhSteps + shifter
	h := a - (n-shifter)/tanhSteps
	c := &tables.tanh[uint16(math.Float64bits(n))]
	// The terms are paired: few of the operations wait for another.
	h2 := h * h
	return math.Copysign((c[0]+h*c[1])+h2*((c[2]+h*c[3])+h2*((c[4]+h*c[5])+h2*c[6])), x)
}

// tanhSeries are the coefficients at t = tanh(x0), from y' = 1 - y².
func tanhSeries(t float64) (c [7]float64) {
	c[0] = t
	for k := range 6 {
		sum := 0.0
		if k == 0 {
			sum = 1
		}
		for i := range k + 1 {
			sum -= c[i] * c[k-i]
		}
		c[k+1] = sum / float64(k+1)
	}
	return c
}
