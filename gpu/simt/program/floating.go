package program

import (
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/verdict"
)

func (l *lowerer) mode() lanes.Mode {
	return lanes.Mode{Rounding: l.mods.rounding(), Flush: l.mods.take("ftz"), Saturate: l.mods.take("sat")}
}

func (l *lowerer) float32(t typ) error {
	op := l.in.Opcode
	f := func(flops int32, op lanes.Op) pure { return pure{verdict.Float32, flops, op} }
	s := func(op lanes.Op) pure { return pure{verdict.SpecialFunction, 1, op} }
	switch op {
	case "min", "max":
		flush, keep, xor := l.mods.take("ftz"), l.mods.take("NaN"), l.mods.take("xorsign")
		if xor && !l.mods.take("abs") {
			return l.unknown()
		}
		if !flush && !keep && !xor {
			return l.compute(f(0, lanes.Extremum32(op == "max")), t, t, t)
		}
		return l.compute(f(0, lanes.Each2(lanes.MinMax32(op == "max", flush, keep, xor))), t, t, t)
	case "abs":
		return l.compute(f(0, lanes.Each1(lanes.Abs32(l.mods.take("ftz")))), t, t)
	case "neg":
		return l.compute(f(0, lanes.Each1(lanes.Neg32(l.mods.take("ftz")))), t, t)
	case "div":
		if l.mods.take("full") {
			return l.compute(s(lanes.Quotient32(lanes.Mode{Flush: l.mods.take("ftz")})), t, t, t)
		}
		if l.mods.take("approx") {
			return l.compute(s(lanes.Each2(lanes.DivApprox(l.mods.take("ftz")))), t, t, t)
		}
		return l.compute(s(lanes.Quotient32(l.mode())), t, t, t)
	case "sqrt":
		l.mods.take("approx")
		return l.compute(s(lanes.Root32(l.mode())), t, t)
	case "rcp":
		l.mods.take("approx")
		return l.compute(s(lanes.Reciprocal32(l.mode())), t, t)
	}
	m := l.mode()
	switch op {
	case "add":
		return l.compute(f(1, lanes.Add32(m)), t, t, t)
	case "sub":
		return l.compute(f(1, lanes.Sub32(m)), t, t, t)
	case "mul":
		return l.compute(f(1, lanes.Mul32(m)), t, t, t)
	case "fma", "mad":
		return l.compute(f(2, lanes.FMA32(m)), t, t, t, t)
	}
	return l.unknown()
}

func (l *lowerer) float64(t typ) error {
	f := func(flops int32, op lanes.Op) pure { return pure{verdict.Float64, flops, op} }
	switch l.in.Opcode {
	case "min":
		return l.compute(f(0, lanes.Each2(lanes.MinMax64(false))), t, t, t)
	case "max":
		return l.compute(f(0, lanes.Each2(lanes.MinMax64(true))), t, t, t)
	case "abs":
		return l.compute(f(0, lanes.Each1(lanes.Abs64)), t, t)
	case "neg":
		return l.compute(f(0, lanes.Each1(lanes.Neg64)), t, t)
	}
	if l.in.Opcode == "rcp" && l.mods.take("approx") && l.mods.take("ftz") {
		return l.compute(f(1, lanes.Each1(lanes.ApproxHigh(lanes.Reciprocal))), t, t)
	}
	r := l.mods.rounding()
	switch l.in.Opcode {
	case "add":
		return l.compute(f(1, lanes.Each2(lanes.Add64(r))), t, t, t)
	case "sub":
		return l.compute(f(1, lanes.Each2(lanes.Sub64(r))), t, t, t)
	case "mul":
		return l.compute(f(1, lanes.Each2(lanes.Mul64(r))), t, t, t)
	case "fma", "mad":
		return l.compute(f(2, lanes.Each3(lanes.FMA64(r))), t, t, t, t)
	case "div":
		return l.compute(f(1, lanes.Each2(lanes.Div64(r))), t, t, t)
	case "sqrt":
		return l.compute(f(1, lanes.Each1(lanes.Sqrt64(r))), t, t)
	case "rcp":
		div := lanes.Div64(r)
		return l.compute(f(1, lanes.Each1(func(a float64) float64 { return div(1, a) })), t, t)
	}
	return l.unknown()
}

// pairs lowers arithmetic on f32x2.
func (l *lowerer) pairs(t typ) error {
	m := l.mode()
	f := func(flops int32, op lanes.Op) pure { return pure{verdict.Float32, flops, op} }
	sum, product, fused := lanes.Scalar32(m)
	switch l.in.Opcode {
	case "add":
		return l.compute(f(2, lanes.Each2(lanes.Pair2(sum))), t, t, t)
	case "mul":
		return l.compute(f(2, lanes.Each2(lanes.Pair2(product))), t, t, t)
	case "fma":
		return l.compute(f(4, lanes.Each3(lanes.Pair3(fused))), t, t, t, t)
	}
	return l.unknown()
}

// half lowers arithmetic on f16, bf16 and their pairs.
func (l *lowerer) half(t typ) error {
	op := l.in.Opcode
	small := lanes.Small{Format: *t.format}
	n := int32(1)
	one, two, three := identity1, identity2, identity3
	if t.packed {
		n, one, two, three = 2, lanes.Halves1, lanes.Halves2, lanes.Halves3
	}
	f := func(flops int32, op lanes.Op) pure { return pure{verdict.Float16, n * flops, op} }
	switch op {
	case "min", "max":
		flush, keep, xor := l.mods.take("ftz"), l.mods.take("NaN"), l.mods.take("xorsign")
		if xor && !l.mods.take("abs") {
			return l.unknown()
		}
		return l.compute(f(0, lanes.Each2(two(small.MinMax(op == "max", flush, keep, xor)))), t, t, t)
	case "abs":
		return l.compute(f(0, lanes.Each1(one(small.Abs(l.mods.take("ftz"))))), t, t)
	case "neg":
		return l.compute(f(0, lanes.Each1(one(small.Neg(l.mods.take("ftz"))))), t, t)
	}
	l.mods.take("rn")
	m := lanes.SmallMode{Flush: l.mods.take("ftz"), Saturate: l.mods.take("sat"), Relu: l.mods.take("relu")}
	if t.packed && m == (lanes.SmallMode{}) && op != "sub" {
		add, mul, fma := lanes.Pair16(*t.format)
		switch op {
		case "add":
			return l.compute(f(1, add), t, t, t)
		case "mul":
			return l.compute(f(1, mul), t, t, t)
		case "fma":
			return l.compute(f(2, fma), t, t, t, t)
		}
	}
	switch op {
	case "add":
		return l.compute(f(1, lanes.Each2(two(small.Add(m)))), t, t, t)
	case "sub":
		return l.compute(f(1, lanes.Each2(two(small.Sub(m)))), t, t, t)
	case "mul":
		return l.compute(f(1, lanes.Each2(two(small.Mul(m)))), t, t, t)
	case "fma":
		return l.compute(f(2, lanes.Each3(three(small.FMA(m)))), t, t, t, t)
	}
	return l.unknown()
}

func identity1(f func(uint32) uint32) func(uint32) uint32                 { return f }
func identity2(f func(a, b uint32) uint32) func(a, b uint32) uint32       { return f }
func identity3(f func(a, b, c uint32) uint32) func(a, b, c uint32) uint32 { return f }

// special1 lowers the functions of one operand that the special function unit
// approximates, testp and copysign.
func (l *lowerer) special1() error {
	op := l.in.Opcode
	if op == "testp" {
		return l.testProperty()
	}
	l.mods.take("approx")
	flush := l.mods.take("ftz")
	t, ok := l.mods.typ()
	if !ok || t.kind != floating {
		return l.unknown()
	}
	if op == "copysign" {
		if t.bits == 64 {
			return l.compute(pure{verdict.Float64, 0, lanes.Each2(lanes.CopySign64)}, t, t, t)
		}
		return l.compute(pure{verdict.Float32, 0, lanes.Each2(lanes.CopySign32)}, t, t, t)
	}
	var f func(float64) float64
	switch op {
	case "ex2":
		f = lanes.Exp2
	case "lg2":
		f = lanes.Log2
	case "sin":
		f = math.Sin
	case "cos":
		f = math.Cos
	case "tanh":
		f = lanes.Tanh
	case "rsqrt":
		f = lanes.Rsqrt
	}
	switch {
	case t.format != nil && (op == "tanh" || op == "ex2"):
		one, n := identity1, int32(1)
		if t.packed {
			one, n = lanes.Halves1, 2
		}
		return l.compute(pure{verdict.SpecialFunction, n, lanes.Each1(one(lanes.Small{Format: *t.format}.Lift(f)))}, t, t)
	case t.name == "f64" && op == "rsqrt":
		if flush {
			f = lanes.ApproxHigh(f)
		}
		return l.compute(pure{verdict.SpecialFunction, 1, lanes.Each1(f)}, t, t)
	case t.name == "f32":
		return l.compute(pure{verdict.SpecialFunction, 1, lanes.Approx32(f, flush)}, t, t)
	}
	return l.unknown()
}

func (l *lowerer) testProperty() error {
	t, ok := l.mods.typ()
	property := l.mods.oneOf("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	if !ok || property == "" || t.format != nil || t.kind != floating {
		return l.unknown()
	}
	if err := l.want(2); err != nil {
		return err
	}
	a, err := l.source(l.in.Operands[1], t)
	if err != nil {
		return err
	}
	test := lanes.EachTest2(func(a, _ float32) bool {
		return lanes.Class(property, lanes.SmallestNormal32)(float64(a))
	})
	if t.bits == 64 {
		test = lanes.EachTest2(func(a, _ float64) bool { return lanes.Class(property, lanes.SmallestNormal64)(a) })
	}
	in := Inst{Kind: Pure, Class: verdict.Comparison, Regs: lanes.Regs{A: a, B: a, D2: -1, P: -1}}
	if in.Regs.D, err = l.destination(l.in.Operands[0], typ{kind: predicate, bits: 1}); err != nil {
		return err
	}
	in.Run = lanes.SetPredicate(test, "")
	return l.add(in)
}
