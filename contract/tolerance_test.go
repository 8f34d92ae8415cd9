package contract_test

import (
	"math"
	"testing"

	"mage/contract"
	"mage/input"
	"mage/tensor"
)

// used returns the largest error of an output as a share of what the tolerance
// allows there: above 1 the gate rejects it.
func used(c contract.Contract, ref []float64, out []float32) float64 {
	tol, worst := c.Tolerance(), 0.0
	for i, r := range ref {
		worst = max(worst, math.Abs(float64(out[i])-r)/(tol.Atol+tol.Rtol*math.Abs(r)))
	}
	return worst
}

// keepBits rounds to a mantissa of that many explicit bits, to nearest even.
func keepBits(v float32, bits int) float32 {
	drop := 23 - bits
	u := math.Float32bits(v)
	half := uint32(1)<<(drop-1) - 1 + u>>drop&1
	return math.Float32frombits((u + half) >> drop << drop)
}

const (
	tf32Bits = 10 // TF32 and FP16
	bf16Bits = 7
)

func rounded(t tensor.Tensor, bits int) tensor.Tensor {
	r := t.Clone()
	for i, v := range t.Float32s() {
		r.Float32s()[i] = keepBits(v, bits)
	}
	return r
}

// docs/contracts.md says why the tolerance is 1e-4 with these bounds: plain
// float32 in the worst order stays well inside, every reduced mode is outside.
func TestToleranceTellsFP32FromLess(t *testing.T) {
	for _, x := range []struct {
		c contract.Contract
		d contract.Dims
		// plain computes in float32, one operation at a time.
		plain func(contract.Dims, contract.Tensors) []float32
		most  float64 // of the tolerance that plain float32 may use
	}{
		{contract.Matmul{}, contract.Dims{"M": 64, "N": 64, "K": 1024}, plainMatmul, 0.1},
		{contract.Matmul{}, contract.Dims{"M": 32, "N": 32, "K": 8192}, plainMatmul, 0.5},
		{contract.GELU{}, contract.Dims{"R": 256, "D": 768}, plainGELU, 0.01},
		{contract.LayerNorm{}, contract.Dims{"R": 64, "D": 4096}, plainLayerNorm, 0.1},
	} {
		set, err := input.Generate(input.Case{Contract: x.c, Dims: x.d, Seed: input.DefaultSeed})
		if err != nil {
			t.Fatal(err)
		}
		in := set.Tensors
		ref := x.c.Reference(x.d, in)
		got := used(x.c, ref, x.plain(x.d, in))
		t.Logf("%s %v: float32 uses %.4f of the tolerance", x.c.Name(), x.d, got)
		if got > x.most {
			t.Errorf("%s %v: float32 uses %.3f of the tolerance, want %v at most", x.c.Name(), x.d, got, x.most)
		}
		for _, bits := range []int{tf32Bits, bf16Bits} {
			less := contract.Tensors{}
			for n, v := range in {
				less[n] = rounded(v, bits)
			}
			out := make([]float32, len(ref))
			for i, v := range x.c.Reference(x.d, less) {
				out[i] = float32(v)
			}
			share := used(x.c, ref, out)
			t.Logf("%s %v: inputs of %d bits use %.2f", x.c.Name(), x.d, bits, share)
			if least := map[int]float64{tf32Bits: 1, bf16Bits: 10}[bits]; share <= least {
				t.Errorf("%s %v: inputs of %d bits use only %.3f of the tolerance, want over %v", x.c.Name(), x.d, bits, share, least)
			}
		}
	}
}

// The documented bound of the approximate tanh instruction, 2⁻¹¹ relative, is
// more than the tolerance leaves where |z| is large.
func TestToleranceOfApproximateTanh(t *testing.T) {
	c, d := contract.GELU{}, contract.Dims{"R": 256, "D": 768}
	set, err := input.Generate(input.Case{Contract: c, Dims: d, Seed: input.DefaultSeed})
	if err != nil {
		t.Fatal(err)
	}
	ref := c.Reference(d, set.Tensors)
	out := make([]float32, len(ref))
	a, b := set.Tensors["a"].Float32s(), set.Tensors["b"].Float32s()
	for i, y := range ref { // y = ½z(1 + t), so t = 2y/z − 1 and ½zt = y − ½z
		half := (float64(a[i]) + float64(b[i%d["D"]])) / 2
		out[i] = float32(half + (y-half)*(1+math.Exp2(-11)))
	}
	if share := used(c, ref, out); share <= 1 {
		t.Errorf("a tanh off by 2⁻¹¹ uses only %.3f of the tolerance", share)
	}
}

func TestKeepBits(t *testing.T) {
	for _, x := range []struct {
		v    float32
		bits int
		want float32
	}{
		{1, 10, 1}, {1 + 1.0/2048, 10, 1}, {1 + 3.0/2048, 10, 1 + 4.0/2048}, {-1.3, 7, -1.296875}, {0, 7, 0},
	} {
		if got := keepBits(x.v, x.bits); got != x.want {
			t.Errorf("%v to %d bits: %v, want %v", x.v, x.bits, got, x.want)
		}
	}
}

func plainMatmul(d contract.Dims, in contract.Tensors) []float32 {
	a, b, n, k := in["a"].Float32s(), in["b"].Float32s(), d["N"], d["K"]
	out := make([]float32, d["M"]*n)
	for o := range out {
		for q := range k {
			out[o] += float32(a[o/n*k+q] * b[q*n+o%n]) // the conversion forbids fusing
		}
	}
	return out
}

func plainGELU(d contract.Dims, in contract.Tensors) []float32 {
	a, b := in["a"].Float32s(), in["b"].Float32s()
	out := make([]float32, len(a))
	for i, x := range a {
		z := x + b[i%d["D"]]
		u := float32(0.7978845608) * (z + float32(0.044715)*z*z*z)
		out[i] = 0.5 * z * (1 + float32(math.Tanh(float64(u))))
	}
	return out
}

func plainLayerNorm(d contract.Dims, in contract.Tensors) []float32 {
	a, width := in["a"].Float32s(), d["D"]
	gamma, beta := in["b"].Float32s(), in["c"].Float32s()
	out := make([]float32, len(a))
	for r := range d["R"] {
		x := a[r*width : (r+1)*width]
		var sum, squares float32
		for _, v := range x {
			sum += v
		}
		mean := sum / float32(width)
		for _, v := range x {
			squares += float32((v - mean) * (v - mean))
		}
		scale := 1 / float32(math.Sqrt(float64(squares/float32(width)+1e-5)))
		for i, v := range x {
			out[r*width+i] = (v-mean)*scale*gamma[i] + beta[i]
		}
	}
	return out
}
