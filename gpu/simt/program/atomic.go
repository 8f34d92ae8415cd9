package program

import (
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// atomic lowers atom and red.
func (l *lowerer) atomic() error {
	m := &Memory{Atomic: &AtomicOp{}}
	l.semantics(m)
	m.Strong = true
	m.Space, _ = l.spaceModifier()
	op := l.mods.oneOf("and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max")
	l.mods.take("noftz")
	hint := l.mods.take("L2::cache_hint")
	vector := map[string]int{"": 1, "v2": 2, "v4": 4, "v8": 8}[l.mods.oneOf("v2", "v4", "v8")]
	t, ok := l.mods.typ()
	if !ok || op == "" || m.Space != Generic && m.Space != Global && m.Space != Shared {
		return l.unknown()
	}
	a := m.Atomic
	if a.Apply = atomicOp(op, t, m.Space != Shared); a.Apply == nil {
		return l.unknown()
	}
	if vector > 1 && (m.Space == Shared || t.kind != floating || vector*t.bits > 128 || t.bits == 64) {
		return l.unknown()
	}
	a.Blind = op == "exch"
	a.Elements = make([]AtomicElement, vector)
	operands := l.in.Operands
	if hint && len(operands) > 0 {
		operands = operands[:len(operands)-1]
	}
	first := 0
	if l.in.Opcode == "atom" && len(operands) > 0 {
		first = 1
	}
	n := 2
	if op == "cas" {
		n = 3
	}
	if len(operands) != first+n {
		return l.want(first + n)
	}
	if err := l.address(m, operands[first], false); err != nil {
		return err
	}
	m.Size = t.bits / 8
	l.granule(m)
	if err := l.atomicElements(a, operands, first, t); err != nil {
		return err
	}
	flops := int32(0)
	if t.kind == floating && op == "add" {
		flops = 1
		if t.packed {
			flops = 2
		}
	}
	return l.add(Inst{Kind: Atomic, Class: verdict.AtomicAccess, Flops: flops * int32(vector), Memory: m})
}

// atomicElements reads the registers beside the address, which is operand number
// address: those of a vector come in braces.
func (l *lowerer) atomicElements(a *AtomicOp, operands []ptx.Operand, address int, t typ) error {
	at := func(o ptx.Operand, i int) ptx.Operand {
		if o.Kind == ptx.Vector && i < len(o.List) {
			return o.List[i]
		}
		return o
	}
	for _, o := range operands {
		if o.Kind == ptx.Vector && len(o.List) != len(a.Elements) || o.Kind != ptx.Vector && o.Kind != ptx.Address && len(a.Elements) > 1 {
			return l.fail(o.Pos, "%s: %d registers for %d elements", l.in.Name(), max(len(o.List), 1), len(a.Elements))
		}
	}
	var err error
	for i := range a.Elements {
		e := AtomicElement{D: Element{Offset: -1}, C: Element{Offset: -1}}
		if address == 1 {
			if e.D, err = l.element(at(operands[0], i), t, false); err != nil {
				return err
			}
		}
		if e.B, err = l.atomicOperand(at(operands[address+1], i), t); err != nil {
			return err
		}
		if len(operands) > address+2 {
			if e.C, err = l.atomicOperand(at(operands[address+2], i), t); err != nil {
				return err
			}
		}
		a.Elements[i] = e
	}
	return nil
}

func (l *lowerer) atomicOperand(o ptx.Operand, t typ) (Element, error) {
	at, err := l.source(o, t)
	return Element{at, t.wide()}, err
}

// atomicOp returns how an atomic changes memory. Atomic addition of float32 in
// global memory flushes subnormals, in shared memory it does not.
func atomicOp(op string, t typ, flush bool) func(old, b, c uint64) uint64 {
	mask := ^uint64(0) >> (64 - t.bits)
	if t.kind == floating {
		return floatAtomic(op, t, flush)
	}
	x := func(v uint64) int64 { return int64(lanes.Extend(v, t.bits, true)) }
	switch op {
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b & mask }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b&mask {
				return c & mask
			}
			return old
		}
	case "add":
		return func(old, b, _ uint64) uint64 { return (old + b) & mask }
	case "inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b&mask {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b&mask {
				return b & mask
			}
			return old - 1
		}
	case "min":
		if t.signed() {
			return func(old, b, _ uint64) uint64 { return uint64(min(x(old), x(b))) & mask }
		}
		return func(old, b, _ uint64) uint64 { return min(old, b&mask) }
	case "max":
		if t.signed() {
			return func(old, b, _ uint64) uint64 { return uint64(max(x(old), x(b))) & mask }
		}
		return func(old, b, _ uint64) uint64 { return max(old, b&mask) }
	}
	return nil
}

func floatAtomic(op string, t typ, flush bool) func(old, b, c uint64) uint64 {
	if t.format != nil {
		small := lanes.Small{Format: *t.format}
		f := map[string]func(a, b uint32) uint32{
			"add": small.Add(lanes.SmallMode{}),
			"min": small.MinMax(false, false, false, false),
			"max": small.MinMax(true, false, false, false),
		}[op]
		if f == nil {
			return nil
		}
		if t.packed {
			f = lanes.Halves2(f)
		}
		return func(old, b, _ uint64) uint64 { return uint64(f(uint32(old), uint32(b))) }
	}
	switch {
	case op == "add" && t.bits == 32:
		sum, _, _ := lanes.Scalar32(lanes.Mode{Flush: flush})
		return func(old, b, _ uint64) uint64 {
			return uint64(math.Float32bits(sum(math.Float32frombits(uint32(old)), math.Float32frombits(uint32(b)))))
		}
	case op == "add" && t.bits == 64:
		sum := lanes.Add64(lanes.Nearest)
		return func(old, b, _ uint64) uint64 {
			return math.Float64bits(sum(math.Float64frombits(old), math.Float64frombits(b)))
		}
	}
	return nil
}
