package program

import (
	"fmt"

	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// MatrixShape is what a warp-wide matrix instruction does.
type MatrixShape struct {
	M, N, K int
	// A, B and C name the element types: "f16", "bf16", "tf32", "f64", "s8", "u8",
	// "e4m3", "e5m2"; C is that of the accumulator, "f16", "f32", "f64" or "s32".
	A, B, C  string
	Saturate bool
	// DRegs, ARegs, BRegs and CRegs are the fragments' registers.
	DRegs, ARegs, BRegs, CRegs []Element
	// Transpose is of ldmatrix and stmatrix, which move len(DRegs) matrices.
	Transpose bool
}

// bitsOf are the sizes of the elements of A and B, and of the accumulators.
func bitsOf(t string) int {
	switch t {
	case "f16", "bf16":
		return 16
	case "tf32", "f32", "s32":
		return 32
	case "s8", "u8", "e4m3", "e5m2":
		return 8
	case "f64":
		return 64
	}
	return 0
}

func (l *lowerer) matrix() error {
	if l.in.Opcode == "movmatrix" || !l.mods.take("sync") || !l.mods.take("aligned") {
		return l.unknown()
	}
	if l.in.Opcode == "mma" {
		return l.multiply()
	}
	s := &MatrixShape{Transpose: l.mods.take("trans")}
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[l.mods.oneOf("x1", "x2", "x4")]
	if !l.mods.take("m8n8") || n == 0 || l.mods.oneOf("shared", "shared::cta") == "" || !l.mods.take("b16") {
		return l.unknown()
	}
	if err := l.want(2); err != nil {
		return err
	}
	kind, regs, address := LoadMatrix, l.in.Operands[0], l.in.Operands[1]
	if l.in.Opcode == "stmatrix" {
		kind, regs, address = StoreMatrix, address, regs
	}
	var err error
	if s.DRegs, err = l.fragment(regs, n, word, kind == StoreMatrix); err != nil {
		return err
	}
	m := &Memory{Space: Shared, Size: 16}
	if err := l.address(m, address, false); err != nil {
		return err
	}
	return l.add(Inst{Kind: kind, Class: verdict.SharedAccess, Memory: m, Matrix: s})
}

// fragment reads a vector of n registers.
func (l *lowerer) fragment(o ptx.Operand, n int, t typ, read bool) ([]Element, error) {
	list := o.List
	if o.Kind != ptx.Vector {
		list = []ptx.Operand{o}
	}
	if len(list) != n {
		return nil, l.fail(o.Pos, "%s: %d registers, want %d", l.in.Name(), len(list), n)
	}
	var regs []Element
	for _, r := range list {
		e, err := l.element(r, t, read)
		if err != nil {
			return nil, err
		}
		regs = append(regs, e)
	}
	return regs, nil
}

// multiply lowers mma.sync.aligned.mMnNkK.row.col.d.a.b.c.
func (l *lowerer) multiply() error {
	s := &MatrixShape{}
	for i, m := range l.mods.list {
		if n, _ := fmt.Sscanf(m, "m%dn%dk%d", &s.M, &s.N, &s.K); n == 3 {
			l.mods.used[i] = true
		}
	}
	if !l.mods.take("row") || !l.mods.take("col") {
		return l.unknown()
	}
	s.Saturate = l.mods.take("satfinite")
	var types []string
	for i, m := range l.mods.list {
		if !l.mods.used[i] && bitsOf(m) > 0 {
			l.mods.used[i] = true
			types = append(types, m)
		}
	}
	if len(types) != 4 || types[0] != types[3] {
		return l.unknown()
	}
	s.C, s.A, s.B = types[0], types[1], types[2]
	if !s.known() {
		return l.unknown()
	}
	if err := l.want(4); err != nil {
		return err
	}
	// Every fragment spreads its elements evenly over the lanes' registers.
	regs := func(elements int, t string) (int, typ) {
		if t == "f64" {
			return elements / 32, typ{name: "f64", kind: floating, bits: 64}
		}
		return elements * bitsOf(t) / 32 / 32, word
	}
	var err error
	n, t := regs(s.M*s.N, s.C)
	if s.DRegs, err = l.fragment(l.in.Operands[0], n, t, false); err != nil {
		return err
	}
	if s.CRegs, err = l.fragment(l.in.Operands[3], n, t, true); err != nil {
		return err
	}
	n, t = regs(s.M*s.K, s.A)
	if s.ARegs, err = l.fragment(l.in.Operands[1], n, t, true); err != nil {
		return err
	}
	n, t = regs(s.K*s.N, s.B)
	if s.BRegs, err = l.fragment(l.in.Operands[2], n, t, true); err != nil {
		return err
	}
	flops := int32(2 * s.M * s.N * s.K)
	return l.add(Inst{Kind: MultiplyMatrix, Class: verdict.Matrix, Flops: flops, Matrix: s})
}

// known tells the shapes whose fragments follow the common layout: in 32-bit
// registers, m16n8 with K of 8 to 32 bytes of A per row and lane group; and
// m8n8k4 of float64.
func (s *MatrixShape) known() bool {
	if s.A == "f64" {
		return s.B == "f64" && s.C == "f64" && s.M == 8 && s.N == 8 && s.K == 4
	}
	if s.M != 16 || s.N != 8 || bitsOf(s.A) != bitsOf(s.B) {
		return false
	}
	rowBytes := s.K * bitsOf(s.A) / 8
	if rowBytes != 16 && rowBytes != 32 {
		return false
	}
	switch s.A {
	case "f16":
		return s.B == s.A && (s.C == "f16" || s.C == "f32")
	case "bf16", "tf32":
		return s.B == s.A && s.C == "f32"
	case "s8", "u8":
		return (s.B == "s8" || s.B == "u8") && s.C == "s32"
	case "e4m3", "e5m2":
		return (s.B == "e4m3" || s.B == "e5m2") && (s.C == "f32" || s.C == "f16")
	}
	return false
}
