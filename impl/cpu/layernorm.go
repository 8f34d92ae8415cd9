package cpu

import "math"

const layerNormEpsilon = 1e-5

// Both versions correct the mean: with d = x − m and m a rounded mean, the mean
// is m + Σd/D and the variance (Σd² − (Σd)²/D)/D. On constant rows a plain
// two-pass sum is off by many units in the last place, which ε = 1e-5 multiplies
// by 316. Chan, Golub, LeVeque: Algorithms for computing the sample variance,
// The American Statistician 37(3), 1983.

// naiveLayerNorm takes three passes over each row, each with one running sum:
// accurate for the rows of real networks, but not for a million features.
func naiveLayerNorm(b *buffers, _ *pool) func() {
	r, d := b.dims["R"], b.dims["D"]
	x, gamma, beta, out := b.float["a"], b.float["b"], b.float["c"], b.out
	return func() {
		for i := range r {
			row := x[i*d : (i+1)*d]
			sum := float32(0)
			for _, v := range row {
				sum += v
			}
			mean := sum / float32(d)
			sum, squares := float32(0), float32(0)
			for _, v := range row {
				sum += v - mean
				squares += (v - mean) * (v - mean)
			}
			shift, scale := normalisation(sum, squares, d)
			for j, v := range row {
				out[i*d+j] = (v-mean-shift)*scale*gamma[j] + beta[j]
			}
		}
	}
}

// parallelLayerNorm does the same with eight sums, so that additions overlap,
// and rows on every core.
func parallelLayerNorm(b *buffers, p *pool) func() {
	r, d := b.dims["R"], b.dims["D"]
	x, gamma, beta, out := b.float["a"], b.float["b"], b.float["c"], b.out
	pieces := rowPieces(r, d)
	rows := func(piece int) {
		lo, hi := divide(r, pieces, piece)
		for i := lo; i < hi; i++ {
			layerNormRow(out[i*d:(i+1)*d], x[i*d:(i+1)*d], gamma, beta)
		}
	}
	return func() { p.each(pieces, rows) }
}

func layerNormRow(out, x, gamma, beta []float32) {
	d := len(x)
	mean := sum(x) / float32(d)
	shift, scale := normalisation(deviations(x, mean))
	out, gamma, beta = out[:d], gamma[:d], beta[:d]
	for j, v := range x {
		out[j] = (v-mean-shift)*scale*gamma[j] + beta[j]
	}
}

// normalisation turns Σd and Σd² into the correction of the mean and 1/σ.
func normalisation(sum, squares float32, n int) (shift, scale float32) {
	shift = sum / float32(n)
	variance := max(0, squares/float32(n)-shift*shift)
	return shift, 1 / float32(math.Sqrt(float64(variance+layerNormEpsilon)))
}

func sum(x []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for ; len(x) >= 8; x = x[8:] {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
		s4 += x[4]
		s5 += x[5]
		s6 += x[6]
		s7 += x[7]
	}
	for _, v := range x {
		s0 += v
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// deviations returns Σ(x−mean), Σ(x−mean)² and the count.
func deviations(x []float32, mean float32) (sum, squares float32, n int) {
	n = len(x)
	var s0, s1, s2, s3, q0, q1, q2, q3 float32
	for ; len(x) >= 4; x = x[4:] {
		d0, d1, d2, d3 := x[0]-mean, x[1]-mean, x[2]-mean, x[3]-mean
		s0 += d0
		s1 += d1
		s2 += d2
		s3 += d3
		q0 += d0 * d0
		q1 += d1 * d1
		q2 += d2 * d2
		q3 += d3 * d3
	}
	for _, v := range x {
		d := v - mean
		s0 += d
		q0 += d * d
	}
	return (s0 + s1) + (s2 + s3), (q0 + q1) + (q2 + q3), n
}
