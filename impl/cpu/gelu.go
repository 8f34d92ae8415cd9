package cpu

import "math"

// y = ½ z (1 + tanh(√(2/π) (z + 0.044715 z³))) with z = x + b.
const (
	geluScale = 0.79788456080286535588 // √(2/π)
	geluCubic = 0.044715
)

// naiveGELU is the formula as written, with the library's tanh.
func naiveGELU(b *buffers, _ *pool) func() {
	r, d := b.dims["R"], b.dims["D"]
	x, bias, out := b.float["a"], b.float["b"], b.out
	return func() {
		for i := range r {
			for j := range d {
				z := x[i*d+j] + bias[j]
				u := geluScale * (z + geluCubic*z*z*z)
				out[i*d+j] = 0.5 * z * (1 + float32(math.Tanh(float64(u))))
			}
		}
	}
}

// parallelGELU uses ½ (1 + tanh u) = 1 / (1 + exp(−2u)), which needs one
// exponential and loses nothing in the negative tail.
func parallelGELU(b *buffers, p *pool) func() {
	r, d := b.dims["R"], b.dims["D"]
	x, bias, out := b.float["a"], b.float["b"], b.out
	pieces := rowPieces(r, d)
	rows := func(piece int) {
		lo, hi := divide(r, pieces, piece)
		for i := lo; i < hi; i++ {
			geluRow(out[i*d:(i+1)*d], x[i*d:(i+1)*d], bias)
		}
	}
	return func() { p.each(pieces, rows) }
}

func geluRow(out, x, bias []float32) {
	x, bias = x[:len(out)], bias[:len(out)]
	for j := range out {
		z := x[j] + bias[j]
		// −2u in units of ln 2, within what float32 can hold as a power of two.
		t := z * (1 + geluCubic*z*z) * (-2 * geluScale * math.Log2E)
		if t > 126 {
			t = 126
		} else if t < -126 {
			t = -126
		}
		out[j] = z / (1 + exp2(t))
	}
}

// exp2 is 2ᵗ for |t| ≤ 126 with a relative error below 3e-7.
//
// With t = k + f and |f| ≤ ½, 2ᵗ = 2ᵏ · 2^f; the polynomial is the Taylor series
// of 2^f, whose first term left out is (½ ln 2)⁷/7! < 1.2e-7.
func exp2(t float32) float32 {
	const (
		c1 = math.Ln2
		c2 = c1 * math.Ln2 / 2
		c3 = c2 * math.Ln2 / 3
		c4 = c3 * math.Ln2 / 4
		c5 = c4 * math.Ln2 / 5
		c6 = c5 * math.Ln2 / 6
		// Adding 1.5·2²³ rounds to an integer, which then is the low bits.
		shift = 3 << 22
	)
	shifted := t + shift
	f := t - (shifted - shift)
	y := 1 + f*(c1+f*(c2+f*(c3+f*(c4+f*(c5+f*c6)))))
	// The low bits of shifted, moved up, add k to the exponent.
	return math.Float32frombits(math.Float32bits(y) + math.Float32bits(shifted)<<23)
}

// rowPieces cuts rows of d elements into pieces of about 16 Ki elements.
func rowPieces(rows, d int) int {
	const grain = 1 << 14
	return min(rows, max(1, int(int64(rows)*int64(d)/grain)))
}
