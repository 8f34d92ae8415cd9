package exec

import (
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// moveMatrix is ldmatrix and stmatrix: rows of eight 16-bit elements whose
// addresses the lanes give, eight rows per matrix. Lane i holds elements 2(i%4) and
// 2(i%4)+1 of row i/4, or of column i/4 when transposed.
func (w *warp) moveMatrix(pc int, in *program.Inst, mask uint32) {
	b := w.block
	m := in.Memory
	s := in.Matrix
	at := &w.at
	w.addresses(m, at)
	store := in.Kind == program.StoreMatrix
	rows := uint32(uint64(1)<<(8*len(s.DRegs)) - 1)
	if store {
		b.countShared(&b.counters.SharedStores, pc, at, rows, 16)
	} else {
		b.countShared(&b.counters.SharedLoads, pc, at, rows, 16)
	}
	if mask != w.lanes&^w.exited || mask != lanes.Full {
		b.report(in, w, firstLane(mask), verdict.Finding{Kind: verdict.InvalidLanes, Detail: "a matrix instruction needs all lanes of the warp"}, "")
	}
	for k, reg := range s.DRegs {
		var matrix [8][16]byte
		d := lanes.At[uint32](&w.file, reg.Offset)
		if store {
			for lane, v := range d {
				for i := range 2 {
					r, c := lane/4, lane%4*2+i
					if s.Transpose {
						r, c = c, r
					}
					little.PutUint16(matrix[r][2*c:], uint16(v>>(16*i)))
				}
			}
		}
		for r := range 8 {
			lane := 8*k + r
			if !w.sharedBounds(in, at[lane], 16, 16, lane) {
				continue
			}
			row := b.shared[at[lane] : at[lane]+16]
			switch {
			case store && b.checked:
				w.writeShared(in, uint32(at[lane]), 16, lane, false, false)
				copy(row, matrix[r][:])
			case store:
				copy(row, matrix[r][:])
			default:
				if b.checked {
					w.readShared(in, uint32(at[lane]), 16, lane)
				}
				copy(matrix[r][:], row)
			}
		}
		if store {
			continue
		}
		for lane := range d {
			var v uint32
			for i := range 2 {
				r, c := lane/4, lane%4*2+i
				if s.Transpose {
					r, c = c, r
				}
				v |= uint32(little.Uint16(matrix[r][2*c:])) << (16 * i)
			}
			d[lane] = v
		}
	}
}

// multiply is mma: D = A·B + C. The manual leaves order and intermediate precision of
// floating-point sums open; here they are those of an H200, which has no tensor cores
// for the 8-bit floats in mma: their products are summed exactly and added to C.
func (w *warp) multiply(in *program.Inst, mask uint32) {
	s := in.Matrix
	if mask != lanes.Full {
		w.block.report(in, w, firstLane(mask), verdict.Finding{Kind: verdict.InvalidLanes, Detail: "a matrix instruction needs all lanes of the warp"}, "")
	}
	if s.A == "f64" {
		w.multiply64(s)
		return
	}
	// Each lane holds four bytes of rows g and g+8 of A, and of column g of B.
	size := 4 * 32 / (s.M * s.K / len(s.ARegs)) // bytes per element
	per := 4 / size
	a, b := lanes.NewFactors(s.M*s.K), lanes.NewFactors(s.N*s.K)
	least := smallestExponent(s.A)
	decodeA, decodeB := decoder(s.A), decoder(s.B)
	for lane := range lanes.Width {
		g, t := lane/4, lane%4
		for r, reg := range s.ARegs {
			v := lanes.At[uint32](&w.file, reg.Offset)[lane]
			row, k := g+8*(r%2), (t*4+16*(r/2))/size
			for i := range per {
				a.Set(row*s.K+k+i, decodeA(v>>(8*size*i)), least)
			}
		}
		for r, reg := range s.BRegs {
			v := lanes.At[uint32](&w.file, reg.Offset)[lane]
			k := (t*4 + 16*r) / size
			for i := range per {
				b.Set(g*s.K+k+i, decodeB(v>>(8*size*i)), least)
			}
		}
	}
	for lane := range lanes.Width {
		w.accumulate(s, lane, a, b)
	}
}

// smallestExponent is that of normal numbers of a type that tensor cores multiply.
func smallestExponent(t string) int32 {
	if t == "f16" {
		return -14
	}
	return -126
}

// product is a row of A times a column of B, exactly.
func product(a, b lanes.Factors) float64 {
	var sum float64
	for i, x := range a.Value {
		sum += x * b.Value[i]
	}
	return sum
}

// accumulate adds to a lane's part of C and stores it in D, which may be the same
// registers in another order.
func (w *warp) accumulate(s *program.MatrixShape, lane int, a, b lanes.Factors) {
	row := func(i int) lanes.Factors { return a.Slice((lane/4+8*(i/2))*s.K, s.K) }
	column := func(i int) lanes.Factors { return b.Slice((lane%4*2+i%2)*s.K, s.K) }
	var c [4]uint32
	for i, e := range s.CRegs {
		c[i] = lanes.At[uint32](&w.file, e.Offset)[lane]
	}
	var d [4]uint32
	switch s.C {
	case "f16":
		for i := range 4 {
			shift := 16 * (i % 2)
			sum := lanes.TensorSum(row(i), column(i), lanes.Half.Decode(c[i/2]>>shift&0xffff))
			d[i/2] |= lanes.Half.Encode(sum, lanes.Nearest, false) << shift
		}
	case "s32":
		for i := range 4 {
			v := int64(product(row(i), column(i))) + int64(int32(c[i]))
			if s.Saturate {
				v = min(max(v, math.MinInt32), math.MaxInt32)
			}
			d[i] = uint32(v)
		}
	default:
		for i := range 4 {
			start := float64(math.Float32frombits(c[i]))
			var v float32
			if s.A == "e4m3" || s.A == "e5m2" {
				v = float32(product(row(i), column(i)) + start)
			} else {
				v = lanes.TensorNarrow(lanes.TensorSum(row(i), column(i), start))
			}
			d[i] = math.Float32bits(v)
			if v != v {
				d[i] = lanes.NaN32
			}
		}
	}
	for i, e := range s.DRegs {
		lanes.At[uint32](&w.file, e.Offset)[lane] = d[i]
	}
}

// decoder returns the value of an element in the low bits.
func decoder(t string) func(uint32) float64 {
	switch t {
	case "f16":
		return func(v uint32) float64 { return lanes.Half.Decode(v & 0xffff) }
	case "bf16":
		return func(v uint32) float64 { return float64(math.Float32frombits(v << 16)) }
	case "tf32":
		return func(v uint32) float64 { return float64(math.Float32frombits(v &^ 0x1fff)) }
	case "s8":
		return func(v uint32) float64 { return float64(int8(v)) }
	case "u8":
		return func(v uint32) float64 { return float64(uint8(v)) }
	case "e4m3":
		return func(v uint32) float64 { return lanes.E4M3.Decode(v & 0xff) }
	}
	return func(v uint32) float64 { return lanes.E5M2.Decode(v & 0xff) }
}

// multiply64 is m8n8k4 of float64: lane i holds A[i/4][i%4], B[i%4][i/4], and two
// neighbours of row i/4 of C.
func (w *warp) multiply64(s *program.MatrixShape) {
	a := *lanes.At[float64](&w.file, s.ARegs[0].Offset)
	b := *lanes.At[float64](&w.file, s.BRegs[0].Offset)
	c := [2][lanes.Width]float64{*lanes.At[float64](&w.file, s.CRegs[0].Offset), *lanes.At[float64](&w.file, s.CRegs[1].Offset)}
	fma := lanes.FMA64(lanes.Nearest) // which of several NaNs is left is that of fma.f64, too
	for i := range 2 {
		d := lanes.At[float64](&w.file, s.DRegs[i].Offset)
		for lane := range d {
			row, col := lane/4, lane%4*2+i
			sum := c[i][lane]
			for k := range 4 {
				sum = fma(a[row*4+k], b[col*4+k], sum)
			}
			d[lane] = sum
		}
	}
}
