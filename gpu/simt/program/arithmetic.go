package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/verdict"
)

// arithmetic lowers the operations that integers and floats share a name for.
func (l *lowerer) arithmetic() error {
	// The mode of multiplication precedes the type.
	part := l.mods.oneOf("lo", "hi", "wide")
	t, ok := l.mods.typ()
	if !ok {
		return l.unknown()
	}
	switch {
	case t.kind == floating && t.format != nil:
		return l.half(t)
	case t.kind == floating && t.packed:
		return l.pairs(t)
	case t.kind == floating && t.bits == 32:
		return l.float32(t)
	case t.kind == floating:
		return l.float64(t)
	}
	return l.integer(t, part)
}

func (l *lowerer) integer(t typ, part string) error {
	op := l.in.Opcode
	if l.mods.take("cc") {
		return l.carryOf(t, part)
	}
	if l.mods.take("sat") {
		switch {
		case op == "add" && t.name == "s32":
			return l.compute(pure{verdict.Integer, 0, lanes.Each2(lanes.AddSat)}, t, t, t)
		case op == "sub" && t.name == "s32":
			return l.compute(pure{verdict.Integer, 0, lanes.Each2(lanes.SubSat)}, t, t, t)
		case op == "mad" && part == "hi" && t.name == "s32":
			return l.compute(pure{verdict.Integer, 0, lanes.Each3(lanes.MadHiSat)}, t, t, t, t)
		}
		return l.unknown()
	}
	if t.packed {
		return l.packedInteger(t)
	}
	if t.bits == 16 {
		return l.short(t, part)
	}
	if t.bits < 32 {
		return l.unknown()
	}
	i := func(op lanes.Op) pure { return pure{verdict.Integer, 0, op} }
	switch op {
	case "add":
		return l.compute(i(byType(t, lanes.Binary(lanes.Add[uint32]), lanes.Binary(lanes.Add[uint32]), lanes.Binary(lanes.Add[uint64]), lanes.Binary(lanes.Add[uint64]))), t, t, t)
	case "sub":
		return l.compute(i(byType(t, lanes.Binary(lanes.Sub[uint32]), lanes.Binary(lanes.Sub[uint32]), lanes.Binary(lanes.Sub[uint64]), lanes.Binary(lanes.Sub[uint64]))), t, t, t)
	case "mul":
		switch part {
		case "lo":
			return l.compute(i(byType(t, lanes.Binary(lanes.Mul[uint32]), lanes.Binary(lanes.Mul[uint32]), lanes.Binary(lanes.Mul[uint64]), lanes.Binary(lanes.Mul[uint64]))), t, t, t)
		case "hi":
			return l.compute(i(byType(t, lanes.Each2(lanes.MulHi[uint32]), lanes.Each2(lanes.MulHi[int32]), lanes.Each2(lanes.MulHi[uint64]), lanes.Each2(lanes.MulHi[int64]))), t, t, t)
		case "wide":
			return l.compute(i(byType(t, lanes.Binary(lanes.MulWideU), lanes.Binary(lanes.MulWideS), nil, nil)), wide, t, t)
		}
	case "mad":
		switch part {
		case "lo":
			return l.compute(i(byType(t, lanes.Ternary(lanes.Mad[uint32]), lanes.Ternary(lanes.Mad[uint32]), lanes.Ternary(lanes.Mad[uint64]), lanes.Ternary(lanes.Mad[uint64]))), t, t, t, t)
		case "hi":
			return l.compute(i(byType(t, madHi[uint32](), madHi[int32](), madHi[uint64](), madHi[int64]())), t, t, t, t)
		case "wide":
			u := lanes.Each3(func(a, b uint32, c uint64) uint64 { return uint64(a)*uint64(b) + c })
			s := lanes.Each3(func(a, b int32, c int64) int64 { return int64(a)*int64(b) + c })
			return l.compute(i(byType(t, u, s, nil, nil)), wide, t, t, wide)
		}
	case "div":
		return l.compute(i(byType(t, lanes.Each2(lanes.Div[uint32]), lanes.Each2(lanes.Div[int32]), lanes.Each2(lanes.Div[uint64]), lanes.Each2(lanes.Div[int64]))), t, t, t)
	case "rem":
		return l.compute(i(byType(t, lanes.Each2(lanes.Rem[uint32]), lanes.Each2(lanes.Rem[int32]), lanes.Each2(lanes.Rem[uint64]), lanes.Each2(lanes.Rem[int64]))), t, t, t)
	case "abs":
		return l.compute(i(byType(t, nil, lanes.Each1(lanes.Abs[int32]), nil, lanes.Each1(lanes.Abs[int64]))), t, t)
	case "neg":
		return l.compute(i(byType(t, nil, lanes.Each1(lanes.Neg[int32]), nil, lanes.Each1(lanes.Neg[int64]))), t, t)
	case "min", "max":
		relu := l.mods.take("relu")
		if relu && t.name != "s32" {
			return l.unknown()
		}
		if op == "max" {
			if relu {
				return l.compute(i(lanes.Each2(func(a, b int32) int32 { return max(a, b, 0) })), t, t, t)
			}
			return l.compute(i(byType(t, lanes.Binary(lanes.Max[uint32]), lanes.Binary(lanes.Max[int32]), lanes.Binary(lanes.Max[uint64]), lanes.Binary(lanes.Max[int64]))), t, t, t)
		}
		if relu {
			return l.compute(i(lanes.Each2(func(a, b int32) int32 { return max(min(a, b), 0) })), t, t, t)
		}
		return l.compute(i(byType(t, lanes.Binary(lanes.Min[uint32]), lanes.Binary(lanes.Min[int32]), lanes.Binary(lanes.Min[uint64]), lanes.Binary(lanes.Min[int64]))), t, t, t)
	}
	return l.unknown()
}

func madHi[T lanes.Int]() lanes.Op {
	return lanes.Each3(func(a, b, c T) T { return lanes.MulHi(a, b) + c })
}

// short extends 16-bit integers by their own sign.
func short(t typ) func(v uint32) int64 {
	if t.signed() {
		return func(v uint32) int64 { return int64(int16(v)) }
	}
	return func(v uint32) int64 { return int64(uint16(v)) }
}

// short lowers arithmetic on 16-bit integers, which live zero-extended in words.
func (l *lowerer) short(t typ, part string) error {
	x := short(t)
	one := func(f func(a int64) int64) error {
		return l.compute(pure{verdict.Integer, 0, lanes.Each1(func(a uint32) uint32 { return uint32(uint16(f(x(a)))) })}, t, t)
	}
	two := func(f func(a, b int64) int64) error {
		return l.compute(pure{verdict.Integer, 0, lanes.Each2(func(a, b uint32) uint32 { return uint32(uint16(f(x(a), x(b)))) })}, t, t, t)
	}
	switch l.in.Opcode {
	case "add":
		return two(func(a, b int64) int64 { return a + b })
	case "sub":
		return two(func(a, b int64) int64 { return a - b })
	case "mul":
		switch part {
		case "lo":
			return two(func(a, b int64) int64 { return a * b })
		case "hi":
			return two(func(a, b int64) int64 { return a * b >> 16 })
		case "wide":
			return l.compute(pure{verdict.Integer, 0, lanes.Each2(func(a, b uint32) uint32 { return uint32(x(a) * x(b)) })}, word, t, t)
		}
	case "mad":
		switch part {
		case "lo", "hi":
			shift := 0
			if part == "hi" {
				shift = 16
			}
			return l.compute(pure{verdict.Integer, 0, lanes.Each3(func(a, b, c uint32) uint32 {
				return uint32(uint16(x(a)*x(b)>>shift + x(c)))
			})}, t, t, t, t)
		case "wide":
			return l.compute(pure{verdict.Integer, 0, lanes.Each3(func(a, b, c uint32) uint32 { return uint32(x(a)*x(b)) + c })}, word, t, t, word)
		}
	case "div":
		return two(lanes.Div[int64])
	case "rem":
		return two(lanes.Rem[int64])
	case "abs":
		return one(lanes.Abs[int64])
	case "neg":
		return one(lanes.Neg[int64])
	case "min":
		return two(func(a, b int64) int64 { return min(a, b) })
	case "max":
		return two(func(a, b int64) int64 { return max(a, b) })
	}
	return l.unknown()
}

// packedInteger lowers add, min and max of u16x2 and s16x2.
func (l *lowerer) packedInteger(t typ) error {
	relu := l.mods.take("relu")
	x := func(v uint32) int32 {
		if t.signed() {
			return int32(int16(v))
		}
		return int32(uint16(v))
	}
	var f func(a, b int32) int32
	switch l.in.Opcode {
	case "add":
		f = func(a, b int32) int32 { return a + b }
	case "min":
		f = func(a, b int32) int32 { return min(a, b) }
	case "max":
		f = func(a, b int32) int32 { return max(a, b) }
	default:
		return l.unknown()
	}
	half := func(a, b uint32) uint32 {
		r := f(x(a), x(b))
		if relu {
			r = max(r, 0)
		}
		return uint32(uint16(r))
	}
	return l.compute(pure{verdict.Integer, 0, lanes.Each2(lanes.Halves2(half))}, t, t, t)
}
