package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// bits lowers the integer operations that work on bits and bytes.
func (l *lowerer) bits() error {
	i := func(op lanes.Op) pure { return pure{verdict.Integer, 0, op} }
	m := l.mods
	switch l.in.Opcode {
	case "mul24", "mad24":
		return l.multiply24()
	case "dp4a", "dp2a":
		return l.dot()
	case "lop3":
		return l.lop3()
	case "bmsk":
		clamp := m.oneOf("clamp", "wrap") == "clamp"
		m.take("b32")
		return l.compute(i(lanes.Each2(lanes.Mask(clamp))), word, word, word)
	case "szext":
		clamp := m.oneOf("clamp", "wrap") == "clamp"
		t, ok := m.typ()
		if !ok || t.bits != 32 || t.kind != signed && t.kind != unsigned {
			return l.unknown()
		}
		return l.compute(i(lanes.Each2(lanes.ExtendBits(clamp, t.signed()))), t, t, word)
	case "fns":
		m.take("b32")
		return l.compute(i(lanes.Each3(lanes.FindNth)), word, word, word, word)
	case "shf":
		right := m.oneOf("l", "r") == "r"
		wrap := m.oneOf("clamp", "wrap") == "wrap"
		m.take("b32")
		if right {
			return l.compute(i(lanes.Each3(lanes.ShiftRight(wrap))), word, word, word, word)
		}
		return l.compute(i(lanes.Each3(lanes.ShiftLeft(wrap))), word, word, word, word)
	case "prmt":
		m.take("b32")
		if mode := m.oneOf("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"); mode != "" {
			return l.compute(i(lanes.Each3(lanes.PermuteMode(mode))), word, word, word, word)
		}
		return l.compute(i(lanes.PermuteOp()), word, word, word, word)
	}
	shift := m.take("shiftamt")
	t, ok := m.typ()
	if !ok {
		return l.unknown()
	}
	switch l.in.Opcode {
	case "sad":
		if t.bits == 16 && t.kind != untyped {
			x := short(t)
			return l.compute(i(lanes.Each3(func(a, b, c uint32) uint32 { return uint32(uint16(lanes.Sad(x(a), x(b), x(c)))) })), t, t, t, t)
		}
		if t.bits == 32 || t.bits == 64 {
			return l.compute(i(byType(t, lanes.Each3(lanes.Sad[uint32]), lanes.Each3(lanes.Sad[int32]), lanes.Each3(lanes.Sad[uint64]), lanes.Each3(lanes.Sad[int64]))), t, t, t, t)
		}
	case "popc":
		return l.compute(i(byType(t, lanes.Each1(lanes.Popc[uint32]), nil, lanes.Each1(lanes.Popc[uint64]), nil)), word, t)
	case "clz":
		return l.compute(i(byType(t, lanes.Each1(lanes.Clz32), nil, lanes.Each1(lanes.Clz64), nil)), word, t)
	case "brev":
		return l.compute(i(byType(t, lanes.Each1(lanes.Brev32), nil, lanes.Each1(lanes.Brev64), nil)), t, t)
	case "cnot":
		if t.bits == 16 {
			return l.compute(i(lanes.Each1(lanes.CNot[uint32])), t, t)
		}
		return l.compute(i(byType(t, lanes.Each1(lanes.CNot[uint32]), nil, lanes.Each1(lanes.CNot[uint64]), nil)), t, t)
	case "bfind":
		return l.compute(i(byType(t, lanes.Each1(lanes.Find[uint32](shift)), lanes.Each1(lanes.Find[int32](shift)), lanes.Each1(lanes.Find[uint64](shift)), lanes.Each1(lanes.Find[int64](shift)))), word, t)
	case "bfe":
		if t.bits == 64 {
			return l.compute(i(lanes.Each3(lanes.Extract(64, t.signed()))), t, t, word, word)
		}
		return l.compute(i(lanes.Extract32(t.signed())), t, t, word, word)
	case "bfi":
		return l.compute(i(lanes.InsertBits(t.wide())), t, t, t, word, word)
	}
	return l.unknown()
}

func (l *lowerer) multiply24() error {
	shift := 0
	if l.mods.oneOf("lo", "hi") == "hi" {
		shift = 16
	}
	saturate := l.mods.take("sat")
	t, ok := l.mods.typ()
	if !ok || t.bits != 32 || saturate && (t.name != "s32" || shift == 0 || l.in.Opcode == "mul24") {
		return l.unknown()
	}
	f := lanes.Mul24(t.signed(), shift)
	if l.in.Opcode == "mul24" {
		return l.compute(pure{verdict.Integer, 0, lanes.Each2(f)}, t, t, t)
	}
	if saturate {
		return l.compute(pure{verdict.Integer, 0, lanes.Each3(func(a, b, c uint32) int32 { return lanes.AddSat(int32(f(a, b)), int32(c)) })}, t, t, t, t)
	}
	return l.compute(pure{verdict.Integer, 0, lanes.Each3(func(a, b, c uint32) uint32 { return f(a, b) + c })}, t, t, t, t)
}

func (l *lowerer) dot() error {
	from := 0
	if l.mods.oneOf("lo", "hi") == "hi" {
		from = 2
	}
	a, ok := l.mods.typ()
	b, ok2 := l.mods.typ()
	if !ok || !ok2 {
		return l.unknown()
	}
	f := lanes.DotBytes(a.signed(), b.signed())
	if l.in.Opcode == "dp2a" {
		f = lanes.DotHalves(a.signed(), b.signed(), from)
	}
	return l.compute(pure{verdict.Integer, 0, lanes.Each3(f)}, word, word, word, word)
}

func (l *lowerer) lop3() error {
	l.mods.take("b32")
	if err := l.want(5); err != nil {
		return err
	}
	table := l.in.Operands[4]
	if table.Kind != ptx.Integer || table.Bits > 255 {
		return l.fail(table.Pos, "%s: the table must be a literal from 0 to 255", l.in.Name())
	}
	in := *l.in
	in.Operands = in.Operands[:4]
	l.in = &in
	return l.compute(pure{verdict.Integer, 0, lanes.Lop3Op(uint8(table.Bits))}, word, word, word, word)
}

// carry lowers addc, subc and madc; carryOf also the forms without c that set it.
func (l *lowerer) carry() error {
	part := l.mods.oneOf("lo", "hi")
	t, ok := l.mods.typ()
	if !ok {
		return l.unknown()
	}
	return l.carryOf(t, part)
}

func (l *lowerer) carryOf(t typ, part string) error {
	op := l.in.Opcode
	use := op == "addc" || op == "subc" || op == "madc"
	set := !use
	if l.mods.take("cc") {
		set = true
	}
	if t.bits != 32 && t.bits != 64 || t.kind == floating {
		return l.unknown()
	}
	p := pure{class: verdict.Integer, op: lanes.Carry(lanes.CarryOp{
		Subtract: op == "sub" || op == "subc", Multiply: op == "mad" || op == "madc",
		High: part == "hi", Signed: t.signed(), Wide: t.wide(), Use: use, Set: set})}
	if op == "mad" || op == "madc" {
		return l.compute(p, t, t, t, t)
	}
	return l.compute(p, t, t, t)
}

// logic lowers bitwise operations and shifts.
func (l *lowerer) logic() error {
	t, ok := l.mods.typ()
	if !ok {
		return l.unknown()
	}
	if t.kind == predicate {
		return l.logicPredicates()
	}
	i := func(op lanes.Op) pure { return pure{verdict.Integer, 0, op} }
	and := func(w, d lanes.Op) pure { return i(byType(typ{bits: max(t.bits, 32)}, w, nil, d, nil)) }
	switch l.in.Opcode {
	case "and":
		return l.compute(and(lanes.Binary(lanes.And[uint32]), lanes.Binary(lanes.And[uint64])), t, t, t)
	case "or":
		return l.compute(and(lanes.Binary(lanes.Or[uint32]), lanes.Binary(lanes.Or[uint64])), t, t, t)
	case "xor":
		return l.compute(and(lanes.Binary(lanes.Xor[uint32]), lanes.Binary(lanes.Xor[uint64])), t, t, t)
	case "not":
		if t.bits == 16 {
			return l.compute(i(lanes.Each1(func(a uint32) uint32 { return ^a & 0xffff })), t, t)
		}
		return l.compute(and(lanes.Unary(lanes.Not[uint32]), lanes.Unary(lanes.Not[uint64])), t, t)
	case "shl":
		if t.bits == 16 {
			return l.compute(i(lanes.Each2(func(a, b uint32) uint32 { return a << b & 0xffff })), t, t, word)
		}
		return l.compute(i(byType(t, lanes.Binary(lanes.Shl[uint32]), lanes.Binary(lanes.Shl[uint32]), lanes.Binary(lanes.Shl[uint64]), lanes.Binary(lanes.Shl[uint64]))), t, t, word)
	case "shr":
		if t.bits == 16 {
			if t.signed() {
				return l.compute(i(lanes.Each2(func(a, b uint32) uint32 { return uint32(uint16(int16(a) >> b)) })), t, t, word)
			}
			return l.compute(i(lanes.Each2(func(a, b uint32) uint32 { return a >> b })), t, t, word)
		}
		return l.compute(i(byType(t, lanes.Binary(lanes.Shr[uint32]), lanes.Binary(lanes.Shr[int32]), lanes.Binary(lanes.Shr[uint64]), lanes.Binary(lanes.Shr[int64]))), t, t, word)
	}
	return l.unknown()
}

func (l *lowerer) logicPredicates() error {
	var f func(a, b uint32) uint32
	n := 3
	switch l.in.Opcode {
	case "and":
		f = func(a, b uint32) uint32 { return a & b }
	case "or":
		f = func(a, b uint32) uint32 { return a | b }
	case "xor":
		f = func(a, b uint32) uint32 { return a ^ b }
	case "not":
		n, f = 2, func(a, b uint32) uint32 { return ^a }
	default:
		return l.unknown()
	}
	if err := l.want(n); err != nil {
		return err
	}
	a, notA, err := l.predicateSource(l.in.Operands[1])
	if err != nil {
		return err
	}
	b, notB, err := l.predicateSource(l.in.Operands[n-1])
	if err != nil {
		return err
	}
	d, err := l.destination(l.in.Operands[0], typ{kind: predicate, bits: 1})
	if err != nil {
		return err
	}
	return l.add(Inst{Kind: Pure, Class: verdict.Comparison, Run: lanes.Predicates(d, a, b, notA, notB, f)})
}
