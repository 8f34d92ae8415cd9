package lanes

import "math"

// Factors are a row of A or a column of B of a matrix instruction: values, and the
// exponents of their encodings, which of subnormals is that of the smallest normal.
type Factors struct {
	Value    []float64
	Exponent []int32
}

// NewFactors makes room for n of them.
func NewFactors(n int) Factors { return Factors{make([]float64, n), make([]int32, n)} }

// Set stores a value of a format whose smallest normal exponent is least.
func (f Factors) Set(i int, v float64, least int32) {
	f.Value[i] = v
	f.Exponent[i] = max(int32(math.Float64bits(v)>>52&0x7ff)-1023, least)
}

// Slice returns the factors from a position on.
func (f Factors) Slice(from, n int) Factors {
	return Factors{f.Value[from : from+n], f.Exponent[from : from+n]}
}

// TensorSum is c plus the sum of products, as the tensor cores of an H200 compute it
// for f16, bf16 and tf32: every term is cut off 25 bits below the largest exponent
// (of a product, the sum of its factors' exponents), and the rest is added exactly.
// The manual leaves that open; that a GPU's results are these to the bit was found by
// comparing. The order of terms does not matter.
func TensorSum(a, b Factors, c float64) float64 {
	const below = 25
	most := int32(math.MinInt32)
	check := c
	if c != 0 {
		most = max(int32(math.Float64bits(c)>>52&0x7ff)-1023, -126)
	}
	for i, x := range a.Value {
		p := x * b.Value[i]
		if p != 0 {
			most = max(most, a.Exponent[i]+b.Exponent[i])
		}
		check += p
	}
	if check-check != 0 || most == math.MinInt32 {
		return check // infinities, NaN and zeros
	}
	up := math.Float64frombits(uint64(1023+below-most) << 52)
	sum := int64(c * up)
	for i, x := range a.Value {
		sum += int64(x * b.Value[i] * up)
	}
	return float64(sum) / up
}

// TensorNarrow cuts a sum off to float32; beyond its range is infinity.
func TensorNarrow(x float64) float32 {
	if math.Abs(x) >= 0x1p128 {
		return float32(x)
	}
	r := Narrow32(x, Zero)
	if r != r {
		return nan32
	}
	return r
}
