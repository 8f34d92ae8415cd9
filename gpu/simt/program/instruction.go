package program

import (
	"slices"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// instruction lowers the statement in l.in.
func (l *lowerer) instruction() error {
	lower := l.family(l.in.Opcode)
	if lower == nil {
		return l.unknown()
	}
	if err := lower(); err != nil {
		return err
	}
	if l.mods.rest() {
		return l.unknown()
	}
	return nil
}

// computing are the opcodes whose results depend on their operands alone.
var computing = []struct {
	lower   func(*lowerer) error
	opcodes []string
}{
	{(*lowerer).arithmetic, []string{"add", "sub", "mul", "mad", "fma", "div", "rem", "abs", "neg", "min", "max", "sqrt", "rcp"}},
	{(*lowerer).bits, []string{"mul24", "mad24", "sad", "popc", "clz", "bfind", "brev", "bfe", "bfi", "shf", "prmt", "dp4a", "dp2a", "lop3", "cnot", "bmsk", "szext", "fns"}},
	{(*lowerer).carry, []string{"addc", "subc", "madc"}},
	{(*lowerer).logic, []string{"and", "or", "xor", "not", "shl", "shr"}},
	{(*lowerer).special1, []string{"ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "testp", "copysign"}},
	{(*lowerer).compare, []string{"setp", "set", "selp", "slct"}},
	{(*lowerer).convert, []string{"cvt"}},
}

// Arithmetic returns the opcodes that compute, compare and convert.
func Arithmetic() []string {
	var all []string
	for _, f := range computing {
		all = append(all, f.opcodes...)
	}
	return all
}

// family returns what lowers an opcode, nil for an unknown one.
func (l *lowerer) family(opcode string) func() error {
	for _, f := range computing {
		if slices.Contains(f.opcodes, opcode) {
			return func() error { return f.lower(l) }
		}
	}
	switch opcode {
	case "mov":
		return l.move
	case "cvta":
		return l.convertAddress
	case "isspacep":
		return l.isSpace
	case "ld", "ldu", "st":
		return l.access
	case "atom", "red":
		return l.atomic
	case "prefetch", "prefetchu", "applypriority", "discard", "createpolicy", "griddepcontrol", "setmaxnreg", "nanosleep", "pmevent":
		return l.hint
	case "bra", "brx", "ret", "exit", "trap", "brkpt", "call":
		return l.control
	case "bar", "barrier", "membar", "fence":
		return l.synchronise
	case "wmma":
		return l.wmma
	case "mbarrier":
		return l.mbarrier
	case "shfl", "vote", "match", "redux", "activemask", "elect":
		return l.acrossLanes
	case "cp":
		return l.async
	case "ldmatrix", "stmatrix", "mma", "movmatrix":
		return l.matrix
	}
	return nil
}

// want checks the number of operands.
func (l *lowerer) want(n int) error {
	if len(l.in.Operands) != n {
		return l.fail(l.in.Pos, "%s takes %d operands, here are %d", l.in.Name(), n, len(l.in.Operands))
	}
	return nil
}

// pure describes an instruction that an Op computes.
type pure struct {
	class verdict.Class
	flops int32
	op    lanes.Op
}

// compute lowers an instruction with a destination of type d and sources of the
// given types, in order.
func (l *lowerer) compute(p pure, d typ, sources ...typ) error {
	if p.op == nil {
		return l.unknown()
	}
	if err := l.want(1 + len(sources)); err != nil {
		return err
	}
	in := Inst{Kind: Pure, Class: p.class, Flops: p.flops, Run: p.op}
	at := [...]*int32{&in.Regs.A, &in.Regs.B, &in.Regs.C, &in.Regs.D2}
	for i, t := range sources {
		r, err := l.source(l.in.Operands[1+i], t)
		if err != nil {
			return err
		}
		*at[i] = r
	}
	r, err := l.destination(l.in.Operands[0], d)
	if err != nil {
		return err
	}
	in.Regs.D = r
	return l.add(in)
}

func (l *lowerer) operand(i int) ptx.Operand {
	if i < len(l.in.Operands) {
		return l.in.Operands[i]
	}
	return ptx.Operand{Pos: l.in.Pos}
}

// The types of operands that an instruction's own type does not decide.
var (
	word = typ{name: "b32", bits: 32}
	wide = typ{name: "b64", bits: 64}
)

// byType picks the implementation for a type of 32 or 64 bits.
func byType(t typ, u32, s32, u64, s64 lanes.Op) lanes.Op {
	switch {
	case t.bits == 32 && t.signed():
		return s32
	case t.bits == 32:
		return u32
	case t.bits == 64 && t.signed():
		return s64
	case t.bits == 64:
		return u64
	}
	return nil
}
