package lanes

// The shapes turn a function of whole vectors into an Op: the mask is applied
// here and nowhere else.

// Unary is d = f(a).
func Unary[D, A Word](f func(d *[Width]D, a *[Width]A)) Op {
	return func(r *File, o *Regs, mask uint32) {
		a, d := At[A](r, o.A), At[D](r, o.D)
		if mask == Full {
			f(d, a)
			return
		}
		var t [Width]D
		f(&t, a)
		blend(d, &t, mask)
	}
}

// Binary is d = f(a, b).
func Binary[D, A, B Word](f func(d *[Width]D, a *[Width]A, b *[Width]B)) Op {
	return func(r *File, o *Regs, mask uint32) {
		a, b, d := At[A](r, o.A), At[B](r, o.B), At[D](r, o.D)
		if mask == Full {
			f(d, a, b)
			return
		}
		var t [Width]D
		f(&t, a, b)
		blend(d, &t, mask)
	}
}

// Ternary is d = f(a, b, c).
func Ternary[D, A, B, C Word](f func(d *[Width]D, a *[Width]A, b *[Width]B, c *[Width]C)) Op {
	return func(r *File, o *Regs, mask uint32) {
		a, b, c, d := At[A](r, o.A), At[B](r, o.B), At[C](r, o.C), At[D](r, o.D)
		if mask == Full {
			f(d, a, b, c)
			return
		}
		var t [Width]D
		f(&t, a, b, c)
		blend(d, &t, mask)
	}
}

// Each1 applies a scalar function to every lane.
func Each1[D, A Word](f func(A) D) Op {
	return Unary(func(d *[Width]D, a *[Width]A) {
		for i := range d {
			d[i] = f(a[i])
		}
	})
}

// Each2 applies a scalar function to every lane.
func Each2[D, A, B Word](f func(A, B) D) Op {
	return Binary(func(d *[Width]D, a *[Width]A, b *[Width]B) {
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	})
}

// Each3 applies a scalar function to every lane.
func Each3[D, A, B, C Word](f func(A, B, C) D) Op {
	return Ternary(func(d *[Width]D, a *[Width]A, b *[Width]B, c *[Width]C) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	})
}

// Operand returns the predicate operand, negated where that is asked for.
func (f *File) Operand(o *Regs) uint32 {
	p := f.Predicates[o.P]
	if o.PNot {
		p = ^p
	}
	return p
}

// Test2 is a comparison: it returns one bit per lane.
func Test2[A Word](f func(a, b *[Width]A) uint32) func(r *File, o *Regs) uint32 {
	return func(r *File, o *Regs) uint32 { return f(At[A](r, o.A), At[A](r, o.B)) }
}

// EachTest2 lifts a scalar comparison.
func EachTest2[A Word](f func(a, b A) bool) func(r *File, o *Regs) uint32 {
	return Test2(func(a, b *[Width]A) uint32 {
		var m uint32
		for i := range a {
			if f(a[i], b[i]) {
				m |= 1 << i
			}
		}
		return m
	})
}
