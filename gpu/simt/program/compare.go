package program

import (
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

var operators = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
	"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

type test = func(r *lanes.File, o *lanes.Regs) uint32

// comparison returns the test of an operator on a type, nil if there is none.
func (l *lowerer) comparison(op string, t typ, flush bool) test {
	if (op == "lo" || op == "ls" || op == "hi" || op == "hs") && t.kind != unsigned {
		return nil
	}
	if t.kind != floating && (len(op) == 3) || t.kind == untyped && op != "eq" && op != "ne" {
		return nil
	}
	switch {
	case t.format != nil && t.packed:
		return nil
	case t.format != nil:
		return lanes.EachTest2(lanes.Small{Format: *t.format}.Compare(scalar(op), flush))
	case t.name == "f32" && flush:
		f := scalar(op)
		return lanes.EachTest2(func(a, b float32) bool { return f(lanes.Flush32(a), lanes.Flush32(b)) })
	case t.name == "f32":
		return testOf[float32](op)
	case t.name == "f64":
		return testOf[float64](op)
	case t.bits == 16 && t.signed():
		f := lanes.Comparison[int32](op)
		return lanes.Test2(func(a, b *[lanes.Width]int32) uint32 {
			x, y := *a, *b
			for i := range x {
				x[i], y[i] = int32(int16(x[i])), int32(int16(y[i]))
			}
			return f(&x, &y)
		})
	case t.bits == 64 && t.signed():
		return testOf[int64](op)
	case t.bits == 64:
		return testOf[uint64](op)
	case t.signed():
		return testOf[int32](op)
	case t.bits == 16 || t.bits == 32:
		return testOf[uint32](op)
	}
	return nil
}

func testOf[T lanes.Word](op string) test { return lanes.Test2(lanes.Comparison[T](op)) }

// scalar is one lane of a comparison of float32.
func scalar(op string) func(a, b float32) bool {
	f := lanes.Comparison[float32](op)
	return func(a, b float32) bool {
		var x, y [lanes.Width]float32
		x[0], y[0] = a, b
		return f(&x, &y)&1 != 0
	}
}

func (l *lowerer) compare() error {
	switch l.in.Opcode {
	case "selp":
		return l.selectPredicate()
	case "slct":
		return l.selectSign()
	}
	op := l.mods.oneOf(operators...)
	combine := l.mods.oneOf("and", "or", "xor")
	flush := l.mods.take("ftz")
	var d typ
	if l.in.Opcode == "set" {
		d, _ = l.mods.typ()
	}
	t, ok := l.mods.typ()
	if !ok || op == "" {
		return l.unknown()
	}
	if t.packed && t.format != nil {
		return l.comparePairs(op, combine, flush, d, t)
	}
	f := l.comparison(op, t, flush)
	if f == nil {
		return l.unknown()
	}
	in := Inst{Kind: Pure, Class: verdict.Comparison, Regs: lanes.Regs{D2: -1, P: -1}}
	if err := l.comparands(&in, t, combine); err != nil {
		return err
	}
	if l.in.Opcode == "setp" {
		p, q := l.in.Operands[0], ptx.Operand{}
		var err error
		if p.Kind == ptx.Pair {
			p, q = p.List[0], p.List[1]
			if in.Regs.D2, err = l.destination(q, typ{kind: predicate, bits: 1}); err != nil {
				return err
			}
		}
		if in.Regs.D, err = l.destination(p, typ{kind: predicate, bits: 1}); err != nil {
			return err
		}
		in.Run = lanes.SetPredicate(f, combine)
		return l.add(in)
	}
	yes, ok := truth(d)
	if !ok || d.packed || d.bits == 16 && d.format == nil && t.format == nil {
		return l.unknown()
	}
	var err error
	if in.Regs.D, err = l.destination(l.in.Operands[0], d); err != nil {
		return err
	}
	in.Run = lanes.SetWord(f, combine, yes)
	return l.add(in)
}

// truth is what set stores where the comparison holds: 1 as a float, all ones as an
// integer. Of a packed type it is that of a half.
func truth(d typ) (uint32, bool) {
	switch {
	case d.format != nil:
		return d.format.Encode(1, lanes.Nearest, false), true
	case d.name == "f32":
		return math.Float32bits(1), true
	case d.kind == unsigned || d.kind == signed:
		return uint32(1<<d.bits - 1), d.bits == 16 || d.bits == 32
	}
	return 0, false
}

// comparands reads the two operands and the predicate that is combined.
func (l *lowerer) comparands(in *Inst, t typ, combine string) error {
	n := 3
	if combine != "" {
		n = 4
	}
	if err := l.want(n); err != nil {
		return err
	}
	var err error
	if in.Regs.A, err = l.source(l.in.Operands[1], t); err != nil {
		return err
	}
	if in.Regs.B, err = l.source(l.in.Operands[2], t); err != nil {
		return err
	}
	if combine != "" {
		in.Regs.P, in.Regs.PNot, err = l.predicateSource(l.in.Operands[3])
	}
	return err
}

// comparePairs lowers setp on f16x2 and bf16x2, whose two results are of the two
// halves, and set with a result for each half.
func (l *lowerer) comparePairs(op, combine string, flush bool, d, t typ) error {
	in := Inst{Kind: Pure, Class: verdict.Comparison, Regs: lanes.Regs{D2: -1, P: -1}}
	if err := l.comparands(&in, t, combine); err != nil {
		return err
	}
	compare := lanes.Small{Format: *t.format}.Compare(scalar(op), flush)
	low := lanes.EachTest2(func(a, b uint32) bool { return compare(a&0xffff, b&0xffff) })
	high := lanes.EachTest2(func(a, b uint32) bool { return compare(a>>16, b>>16) })
	p := l.in.Operands[0]
	if l.in.Opcode == "setp" {
		if p.Kind != ptx.Pair {
			return l.unknown()
		}
		var err error
		if in.Regs.D, err = l.destination(p.List[0], typ{kind: predicate, bits: 1}); err != nil {
			return err
		}
		if in.Regs.D2, err = l.destination(p.List[1], typ{kind: predicate, bits: 1}); err != nil {
			return err
		}
		in.Run = lanes.SetPredicates(low, high, combine)
		return l.add(in)
	}
	yes := uint32(0xffff)
	if d.format != nil && d.packed {
		yes, _ = truth(d)
	} else if d.bits != 32 || d.kind == floating {
		return l.unknown()
	}
	var err error
	if in.Regs.D, err = l.destination(p, d); err != nil {
		return err
	}
	in.Run = lanes.SetHalves(low, high, combine, yes)
	return l.add(in)
}

func (l *lowerer) selectPredicate() error {
	t, ok := l.mods.typ()
	if !ok || t.kind == predicate {
		return l.unknown()
	}
	if err := l.want(4); err != nil {
		return err
	}
	in := Inst{Kind: Pure, Class: verdict.Movement, Run: lanes.Select[uint32]}
	if t.wide() {
		in.Run = lanes.Select[uint64]
	}
	var err error
	if in.Regs.A, err = l.source(l.in.Operands[1], t); err != nil {
		return err
	}
	if in.Regs.B, err = l.source(l.in.Operands[2], t); err != nil {
		return err
	}
	if in.Regs.P, in.Regs.PNot, err = l.predicateSource(l.in.Operands[3]); err != nil {
		return err
	}
	if in.Regs.D, err = l.destination(l.in.Operands[0], t); err != nil {
		return err
	}
	return l.add(in)
}

// selectSign lowers slct: a where c >= 0, else b.
func (l *lowerer) selectSign() error {
	flush := l.mods.take("ftz")
	t, ok := l.mods.typ()
	by, ok2 := l.mods.typ()
	if !ok || !ok2 || by.name != "s32" && by.name != "f32" {
		return l.unknown()
	}
	yes := func(c uint32) bool { return int32(c) >= 0 }
	if by.name == "f32" {
		yes = func(c uint32) bool {
			f := math.Float32frombits(c)
			return f >= 0 || flush && lanes.Flush32(f) == 0
		}
	}
	if t.wide() {
		return l.compute(pure{verdict.Movement, 0, lanes.Each3(func(a, b uint64, c uint32) uint64 {
			if yes(c) {
				return a
			}
			return b
		})}, t, t, t, by)
	}
	return l.compute(pure{verdict.Movement, 0, lanes.Each3(func(a, b, c uint32) uint32 {
		if yes(c) {
			return a
		}
		return b
	})}, t, t, t, by)
}
