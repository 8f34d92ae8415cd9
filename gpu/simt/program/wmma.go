package program

import (
	"fmt"
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// Fragment is a matrix that wmma spreads over the lanes of a warp. How is not
// specified; here each lane holds Rows·Columns/32 neighbouring elements, in the order
// of rows or, if ByColumn, of columns. Where there are more registers than that
// needs, they hold the same again.
type Fragment struct {
	Rows, Columns int
	Type          string
	ByColumn      bool
	Regs          []Element
}

// PerLane is the number of elements that a lane holds.
func (f Fragment) PerLane() int { return f.Rows * f.Columns / lanes.Width }

// Bits is the size of an element.
func (f Fragment) Bits() int { return bitsOf(f.Type) }

// Wmma is a load, a store or a multiplication.
type Wmma struct {
	Op string // "load", "store", "mma"
	// A, B, C and D are those of "mma"; a load has D, a store C.
	A, B, C, D Fragment
	Saturate   bool
	// ByColumn is the order in memory, and Stride, a register of elements, the
	// distance of its rows or columns; offset -1 for none between them.
	ByColumn bool
	Stride   Element
}

// wmma lowers wmma.load, wmma.store and wmma.mma.
func (l *lowerer) wmma() error {
	w := &Wmma{Op: l.mods.oneOf("load", "store", "mma"), Stride: Element{Offset: -1}}
	which := l.mods.oneOf("a", "b", "c", "d")
	var m, n, k int
	for i, s := range l.mods.list {
		if c, _ := fmt.Sscanf(s, "m%dn%dk%d", &m, &n, &k); c == 3 {
			l.mods.used[i] = true
		}
	}
	if !l.mods.take("sync") || !l.mods.take("aligned") || m*n*k == 0 || m > 32 || n > 32 || k > 16 || m*n%32 != 0 || m*k%32 != 0 || n*k%32 != 0 {
		return l.unknown()
	}
	if w.Op == "mma" {
		return l.wmmaMultiply(w, m, n, k)
	}
	w.ByColumn = l.mods.oneOf("row", "col") == "col"
	memory := &Memory{}
	memory.Space, _ = l.spaceModifier()
	f := Fragment{Rows: m, Columns: n, Type: l.elementType()}
	switch which {
	case "a":
		f.Columns, f.ByColumn = k, w.ByColumn
	case "b":
		f.Rows, f.ByColumn = k, w.ByColumn
	}
	operands := l.in.Operands
	if f.Bits() == 0 || len(operands) < 2 || len(operands) > 3 || (w.Op == "store") != (which == "d") {
		return l.unknown()
	}
	regs, address := operands[0], operands[1]
	if w.Op == "store" {
		regs, address = address, regs
	}
	var err error
	if err := l.wmmaRegs(&f, regs, w.Op == "store"); err != nil {
		return err
	}
	if err := l.address(memory, address, false); err != nil {
		return err
	}
	if len(operands) == 3 {
		if w.Stride, err = l.atomicOperand(operands[2], word); err != nil {
			return err
		}
	}
	memory.Size = f.Bits() / 8
	l.granule(memory)
	w.C, w.D = f, f
	return l.add(Inst{Kind: WarpMatrix, Class: accessClass(memory.Space), Memory: memory, Wmma: w})
}

// elementType consumes the next type of elements.
func (l *lowerer) elementType() string {
	for i, m := range l.mods.list {
		if !l.mods.used[i] && bitsOf(m) > 0 {
			l.mods.used[i] = true
			return m
		}
	}
	return ""
}

// wmmaRegs reads the registers of a fragment.
func (l *lowerer) wmmaRegs(f *Fragment, o ptx.Operand, read bool) error {
	t := word
	needs := (f.PerLane()*f.Bits() + 31) / 32
	if f.Type == "f64" {
		t, needs = typ{name: "f64", kind: floating, bits: 64}, f.PerLane()
	}
	n := max(len(o.List), 1)
	if n%needs != 0 {
		return l.fail(o.Pos, "%s: %d registers, want %d", l.in.Name(), n, needs)
	}
	var err error
	f.Regs, err = l.fragment(o, n, t, read)
	return err
}

func (l *lowerer) wmmaMultiply(w *Wmma, m, n, k int) error {
	w.Saturate = l.mods.take("satfinite")
	l.mods.take("rn")
	byColumn := [2]bool{}
	order := 0
	for i, s := range l.mods.list {
		if (s == "row" || s == "col") && order < 2 {
			byColumn[order] = s == "col"
			l.mods.used[i] = true
			order++
		}
	}
	var types []string
	for t := l.elementType(); t != ""; t = l.elementType() {
		types = append(types, t)
	}
	switch {
	case order != 2:
		return l.unknown()
	case len(types) == 2: // of f16 only the types of D and C are written
		types = []string{types[0], "f16", "f16", types[1]}
	case len(types) != 4:
		return l.unknown()
	}
	s := MatrixShape{M: 16, N: 8, K: 256 / bitsOf(types[1]), A: types[1], B: types[2], C: types[0]}
	if s.A == "f64" {
		s.M, s.N, s.K = m, n, k
	}
	if types[3] != types[0] && (types[1] != "f16" || types[3] != "f16" && types[3] != "f32") {
		return l.unknown()
	}
	if !s.known() || bitsOf(types[1]) == 8 && types[0] != "s32" {
		return l.unknown()
	}
	if err := l.want(4); err != nil {
		return err
	}
	w.D = Fragment{Rows: m, Columns: n, Type: types[0]}
	w.A = Fragment{Rows: m, Columns: k, Type: types[1], ByColumn: byColumn[0]}
	w.B = Fragment{Rows: k, Columns: n, Type: types[2], ByColumn: byColumn[1]}
	w.C = Fragment{Rows: m, Columns: n, Type: types[3]}
	for i, f := range []*Fragment{&w.D, &w.A, &w.B, &w.C} {
		if err := l.wmmaRegs(f, l.in.Operands[i], i > 0); err != nil {
			return err
		}
	}
	return l.add(Inst{Kind: WarpMatrix, Class: verdict.Matrix, Flops: int32(2 * m * n * k), Wmma: w})
}

// Sum is one element of the result: c, as bits, plus a row times a column.
func (w *Wmma) Sum(a, b lanes.Factors, c uint64) uint64 {
	var start float64
	switch w.C.Type {
	case "f16":
		start = lanes.Half.Decode(uint32(c))
	case "f32":
		start = float64(math.Float32frombits(uint32(c)))
	case "f64":
		start = math.Float64frombits(c)
		for i, x := range a.Value {
			start = math.FMA(x, b.Value[i], start)
		}
		return math.Float64bits(start)
	case "s32":
		sum := int64(int32(c))
		for i, x := range a.Value {
			sum += int64(x) * int64(b.Value[i])
		}
		if w.Saturate {
			sum = min(max(sum, math.MinInt32), math.MaxInt32)
		}
		return uint64(uint32(sum))
	}
	sum := lanes.TensorSum(a, b, start)
	if w.D.Type == "f16" {
		return uint64(lanes.Half.Encode(sum, lanes.Nearest, false))
	}
	return uint64(math.Float32bits(lanes.TensorNarrow(sum)))
}
