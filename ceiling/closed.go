package ceiling

import "math"

// word is the element of every buffer.
type word = uint32

// affine is a buffer of words of which word i is i·m + a, modulo 2³².
type affine struct{ m, a word }

func (f affine) at(i uint64) word { return word(i)*f.m + f.a }

// sum adds the first n words: m·n(n-1)/2 + a·n.
func (f affine) sum(n uint64) word {
	even, odd := n, n-1
	if n%2 == 1 {
		even, odd = n-1, n
	}
	return f.m*(word(even/2)*word(odd)) + f.a*word(n)
}

// fma32 is x·y + z, rounded once. The product is exact in float64. The sum is
// rounded to odd there, so that rounding it again cannot go wrong: Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums" (2008).
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	t := s - p // the error of s, exactly: Knuth's two-sum
	e := (p - (s - t)) + (c - t)
	if b := math.Float64bits(s); e != 0 && b&1 == 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
		s = math.Float64frombits(b)
	}
	return float32(s)
}

// The constants of the chains. The factor is near -1, so that values alternate and
// every step still shows in the last bit after tens of thousands.
const (
	chainX = -0.9999
	chainY = 2.71828
)

// chains32 returns what each lane of a warp writes after so many steps of c chains.
func chains32(c, steps int) (lanes [32]uint64) {
	for lane := range lanes {
		for i := range c {
			v := 1 + float32(lane*c+i)/512
			for range steps {
				v = fma32(v, chainX, chainY)
			}
			lanes[lane] ^= uint64(math.Float32bits(v)) << (i % 2 * 32)
		}
	}
	return lanes
}

func chains64(c, steps int) (lanes [32]uint64) {
	for lane := range lanes {
		for i := range c {
			v := 1 + float64(lane*c+i)/512
			for range steps {
				v = math.FMA(v, chainX, chainY)
			}
			lanes[lane] ^= math.Float64bits(v)
		}
	}
	return lanes
}

// product is Σ_k A_ik B_kj of the matrices in matrix.cu.
func product(i, j, k int) (sum int) {
	for l := range k {
		sum += ((i*7+l*13+5)%15 - 7) * ((l*11+j*3+2)%13 - 6)
	}
	return sum
}

// products returns the result of one warp or warpgroup, row by row: steps products
// into each of c accumulators that begin with 0, 1, …, summed over them.
func products(rows, columns, k, c, steps int) []int32 {
	out := make([]int32, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			out = append(out, int32(c*(c-1)/2+c*steps*product(i, j, k)))
		}
	}
	return out
}
