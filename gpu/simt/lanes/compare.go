package lanes

// Eq, Ne, Lt and Le compare vectors: one bit per lane. With NaN each is false,
// Ne included.
func Eq[T Word](a, b *[Width]T) uint32 {
	var m uint32
	for i := range a {
		var bit uint32
		if a[i] == b[i] {
			bit = 1
		}
		m |= bit << i
	}
	return m
}

// Ne is a < b or a > b.
func Ne[T Word](a, b *[Width]T) uint32 {
	switch any(a).(type) {
	case *[Width]float32, *[Width]float64:
		return ^Eq(a, b) & Ordered(a, b)
	}
	return ^Eq(a, b)
}

// Lt is a < b.
func Lt[T Word](a, b *[Width]T) uint32 {
	var m uint32
	for i := range a {
		var bit uint32
		if a[i] < b[i] {
			bit = 1
		}
		m |= bit << i
	}
	return m
}

// Le is a <= b.
func Le[T Word](a, b *[Width]T) uint32 {
	var m uint32
	for i := range a {
		var bit uint32
		if a[i] <= b[i] {
			bit = 1
		}
		m |= bit << i
	}
	return m
}

// Ordered is true where neither is NaN.
func Ordered[T Word](a, b *[Width]T) uint32 {
	var m uint32
	for i := range a {
		var bit uint32
		if a[i] == a[i] && b[i] == b[i] {
			bit = 1
		}
		m |= bit << i
	}
	return m
}

// Comparison returns the vector comparison of a PTX operator on T, nil for one
// that T does not have: "lt", and for floats "ltu", "num", "nan"; lo, ls, hi and
// hs are the unsigned names.
func Comparison[T Word](op string) func(a, b *[Width]T) uint32 {
	not := func(f func(a, b *[Width]T) uint32) func(a, b *[Width]T) uint32 {
		return func(a, b *[Width]T) uint32 { return ^f(a, b) }
	}
	gt := func(a, b *[Width]T) uint32 { return Lt(b, a) }
	ge := func(a, b *[Width]T) uint32 { return Le(b, a) }
	switch op {
	case "eq":
		return Eq[T]
	case "ne":
		return Ne[T]
	case "lt", "lo":
		return Lt[T]
	case "le", "ls":
		return Le[T]
	case "gt", "hi":
		return gt
	case "ge", "hs":
		return ge
	case "equ":
		return not(Ne[T])
	case "neu":
		return not(Eq[T])
	case "ltu":
		return not(ge)
	case "leu":
		return not(gt)
	case "gtu":
		return not(Le[T])
	case "geu":
		return not(Lt[T])
	case "num":
		return Ordered[T]
	case "nan":
		return not(Ordered[T])
	}
	return nil
}

// Select is selp: a where p, else b.
func Select[T Word](r *File, o *Regs, mask uint32) {
	a, b, d := At[T](r, o.A), At[T](r, o.B), At[T](r, o.D)
	p := r.Operand(o)
	for i := range d {
		if mask>>i&1 == 0 {
			continue
		}
		if p>>i&1 != 0 {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
}

// SetPredicate stores a comparison in predicate D, and its negation in D2 unless
// that is -1, each combined with the predicate operand by "and", "or" or "xor"
// ("" for neither).
func SetPredicate(test func(r *File, o *Regs) uint32, combine string) Op {
	return func(r *File, o *Regs, mask uint32) {
		p := test(r, o)
		q := ^p
		switch combine {
		case "and":
			c := r.Operand(o)
			p, q = p&c, q&c
		case "or":
			c := r.Operand(o)
			p, q = p|c, q|c
		case "xor":
			c := r.Operand(o)
			p, q = p^c, q^c
		}
		r.Predicates[o.D] = r.Predicates[o.D]&^mask | p&mask
		if o.D2 >= 0 {
			r.Predicates[o.D2] = r.Predicates[o.D2]&^mask | q&mask
		}
	}
}

// SetPredicates stores two comparisons in D and D2.
func SetPredicates(p, q func(r *File, o *Regs) uint32, combine string) Op {
	first, second := SetPredicate(p, combine), SetPredicate(q, combine)
	return func(r *File, o *Regs, mask uint32) {
		a, b := *o, *o
		a.D2 = -1
		b.D, b.D2 = o.D2, -1
		first(r, &a, mask)
		second(r, &b, mask)
	}
}

// SetWord stores yes or 0 in a register.
func SetWord(test func(r *File, o *Regs) uint32, combine string, yes uint32) Op {
	return func(r *File, o *Regs, mask uint32) {
		p := combined(test(r, o), r, o, combine)
		d := At[uint32](r, o.D)
		for i := range d {
			if mask>>i&1 == 0 {
				continue
			}
			d[i] = 0
			if p>>i&1 != 0 {
				d[i] = yes
			}
		}
	}
}

// SetHalves stores yes or 0 in each half of a register.
func SetHalves(low, high func(r *File, o *Regs) uint32, combine string, yes uint32) Op {
	return func(r *File, o *Regs, mask uint32) {
		p, q := combined(low(r, o), r, o, combine), combined(high(r, o), r, o, combine)
		d := At[uint32](r, o.D)
		for i := range d {
			if mask>>i&1 == 0 {
				continue
			}
			var v uint32
			if p>>i&1 != 0 {
				v = yes
			}
			if q>>i&1 != 0 {
				v |= yes << 16
			}
			d[i] = v
		}
	}
}

// combined joins a comparison and the predicate operand.
func combined(p uint32, r *File, o *Regs, combine string) uint32 {
	switch combine {
	case "and":
		return p & r.Operand(o)
	case "or":
		return p | r.Operand(o)
	case "xor":
		return p ^ r.Operand(o)
	}
	return p
}
