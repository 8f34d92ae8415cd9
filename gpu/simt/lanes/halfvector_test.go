package lanes

import (
	"math/rand/v2"
	"testing"
)

// TestPairsAgreeWithCare compares the vectors with what they stand for, on random
// bits and on operands near each other, for which ties are frequent.
func TestPairsAgreeWithCare(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range []Format{Half, Brain} {
		s := Small{f}
		add, mul, fma := Pair16(f)
		slowAdd, slowMul, slowFMA := Halves2(s.Add(SmallMode{})), Halves2(s.Mul(SmallMode{})), Halves3(s.FMA(SmallMode{}))
		file := &File{Words: make([]uint64, 4*Words32)}
		regs := &Regs{A: 0, B: Words32, C: 2 * Words32, D: 3 * Words32}
		a, b, c, d := At[uint32](file, regs.A), At[uint32](file, regs.B), At[uint32](file, regs.C), At[uint32](file, regs.D)
		n := 30_000
		if testing.Short() {
			n = 3_000
		}
		for k := range n {
			for i := range a {
				for _, v := range []*uint32{&a[i], &b[i], &c[i]} {
					*v = r.Uint32()
					if k%2 == 0 { // few exponents and few bits
						*v = *v&0x83018301 | r.Uint32()&0x04000400 | 0x3c003c00&^0x04000400
					}
				}
			}
			for i := range 3 {
				switch i {
				case 0:
					add(file, regs, Full)
				case 1:
					mul(file, regs, Full)
				default:
					fma(file, regs, Full)
				}
				for lane := range d {
					want := [...]uint32{slowAdd(a[lane], b[lane]), slowMul(a[lane], b[lane]), slowFMA(a[lane], b[lane], c[lane])}[i]
					if d[lane] != want {
						t.Fatalf("operation %d of %#x, %#x, %#x in %+v: %#x, want %#x", i, a[lane], b[lane], c[lane], f, d[lane], want)
					}
				}
			}
		}
	}
}
