package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestElementaryFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	check := func(name string, f, exact func(float64) float64, x float64) {
		got, want := f(x), exact(x)
		if got == want || got != got && want != want {
			return
		}
		if math.Abs(got-want) > 0x1p-40*math.Abs(want) && !(math.Abs(want) < 0x1p-150 && math.Abs(got) < 0x1p-149) && !(want > 0x1p129 && got > 0x1p129) &&
			!(got == 1 && want > 1-0x1p-27) && !(got == -1 && want < -1+0x1p-27) {
			t.Fatalf("%s(%x) = %x, want %x: off by %.3g", name, x, got, want, (got-want)/want)
		}
	}
	for range 200_000 {
		x := float64(math.Float32frombits(r.Uint32()))
		small := r.NormFloat64() * 10
		near := float64(float32(1 + r.NormFloat64()*0x1p-12))
		for _, v := range []float64{x, small, near, near * 0x1p-12} {
			check("exp2", Exp2, math.Exp2, v)
			check("tanh", Tanh, math.Tanh, v)
			if v > 0 {
				check("log2", Log2, func(x float64) float64 {
					if math.Abs(x-1) < 0.25 { // where math.Log2 loses digits
						return math.Log1p(x-1) * math.Log2E
					}
					return math.Log2(x)
				}, v)
			}
		}
	}
}
