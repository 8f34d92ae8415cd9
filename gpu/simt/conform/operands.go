package conform

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Sets is the number of operand sets per form.
const Sets = 2048

// Values returns operand number i of every set of a form: corners in half of the
// sets, else random values with many bits, few bits, and magnitudes near the limits.
func (f Form) Values(i int) []uint64 {
	h := fnv.New64a()
	h.Write([]byte(f.Name))
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
	t := f.Operands[i]
	special := corners(t)
	v := make([]uint64, Sets)
	for k := range v {
		if len(special) > 0 && k%64 < 32 {
			v[k] = special[r.IntN(len(special))]
		} else {
			v[k] = random(t, k, r)
		}
		if width(t) > 8 { // the upper bits of bytes are garbage, as in registers
			v[k] &= ^uint64(0) >> (64 - width(t))
		}
		if t == "pred" {
			v[k] &= 1
		}
	}
	return v
}

func corners(t string) []uint64 {
	switch {
	case t == "shift":
		return []uint64{0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 1 << 31}
	case t == "position":
		return []uint64{0, 1, 7, 16, 31, 32, 33, 40, 63, 64, 255, 256}
	case t == "pred", t == "few", t == "seldom", t == "offset", t == "dense", t == "sparse",
		strings.HasPrefix(t, "unit"):
		return nil
	case strings.HasPrefix(t, "f16"), strings.HasPrefix(t, "bf16"):
		v := []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7f, 0x80, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7fff, 0x4200, 0xbc01}
		if strings.HasSuffix(t, "x2") {
			one := v
			v = nil
			for _, x := range one {
				for k := range 7 {
					v = append(v, x|one[(len(v)*3+k)%len(one)]<<16)
				}
			}
		}
		return v
	case t == "f32":
		return corners32()
	case t == "f64":
		var v []uint64
		for _, x := range []float64{0, 1, 2, 3, 0.5, 1.5, 2.5, 0x1p-1022, 0x1p-1074, math.MaxFloat64, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 0x1p-149, 0x1p-150,
			0x1.8p-150, 0x1.000001p0, 0x1.0000010000001p0, 0x1.fffffefp127, math.Inf(1), math.NaN()} {
			b := math.Float64bits(x)
			v = append(v, b, b|1<<63)
		}
		return v
	}
	top := uint64(1) << (width(t) - 1)
	return []uint64{0, 1, 2, 3, top - 1, top, top + 1, ^uint64(0), ^uint64(1), 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x00ff00ff00ff00ff}
}

func corners32() []uint64 {
	var v []uint64
	for _, x := range []float32{0, 1, 2, 3, 0.5, 1.5, 2.5, 0x1p-126, 0x1p-149, 0x1.fffffcp-127, math.MaxFloat32, 0x1p31, 0x1.fffffep30,
		0x1p32, 0x1p63, 0x1p64, 65504, 65520, 448, 464, 0x1p-24, 0x1.8p-25, 0x1.001p0, 0x1.003p0, 0x1.01p0, 0x1.03p0,
		0x1p126, 0x1.8p126, float32(math.Inf(1)), float32(math.NaN())} {
		b := uint64(math.Float32bits(x))
		v = append(v, b, b|1<<31)
	}
	return append(v, 0x7f800001, 0xffffffff)
}

// random draws a value of a type for set k.
func random(t string, k int, r *rand.Rand) uint64 {
	v := r.Uint64()
	switch t {
	case "shift", "position":
		return v % 70
	case "offset":
		return uint64(int64(v%67) - 33)
	case "few":
		return v % 4
	case "seldom": // in half of the warps the same in all lanes
		if k/32%2 == 0 {
			return uint64(k / 64 % 2)
		}
		return v % 2
	case "dense", "sparse": // bits that are seldom 0, or 1
		v &= r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64()
		if t == "dense" {
			v = ^v
		}
		return v
	case "f32": // exponents near each other, so that sums round
		if r.IntN(2) == 0 {
			return v&0x807fffff | (110+v>>40%40)<<23
		}
	case "f64":
		if r.IntN(2) == 0 {
			return v&^(0x7ff<<52) | (1000+v>>52%60)<<52
		}
	}
	if x, ok := strings.CutPrefix(t, "unit"); ok {
		return unit(x, r)
	}
	if r.IntN(3) == 0 {
		return v & r.Uint64() & r.Uint64() // few bits
	}
	return v
}

// unit draws a register of elements within ±1.
func unit(t string, r *rand.Rand) uint64 {
	x := func() float64 { return 2*r.Float64() - 1 }
	switch t {
	case "f64":
		return math.Float64bits(x())
	case "f32":
		return uint64(math.Float32bits(float32(x())))
	}
	// Sign, an exponent below that of 1, any mantissa.
	bits, mantissa, one := 16, 10, uint64(0x3c00)
	switch t {
	case "bf16":
		mantissa, one = 7, 0x3f80
	case "e4m3":
		bits, mantissa, one = 8, 3, 0x38
	case "e5m2":
		bits, mantissa, one = 8, 2, 0x3c
	}
	var v uint64
	for at := 0; at < 32; at += bits {
		m := one - 1 - r.Uint64N(5<<mantissa)
		v |= (m | r.Uint64N(2)<<(bits-1)) << at
	}
	return v
}
