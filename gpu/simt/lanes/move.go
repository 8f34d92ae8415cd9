package lanes

// InsertBits is bfi, with its fourth operand in D2.
func InsertBits(wide bool) Op {
	if wide {
		return func(r *File, o *Regs, mask uint32) {
			a, b, c, n, d := At[uint64](r, o.A), At[uint64](r, o.B), At[uint32](r, o.C), At[uint32](r, o.D2), At[uint64](r, o.D)
			for i := range d {
				if mask>>i&1 != 0 {
					d[i] = insert(a[i], b[i], c[i], n[i])
				}
			}
		}
	}
	return func(r *File, o *Regs, mask uint32) {
		a, b, c, n, d := At[uint32](r, o.A), At[uint32](r, o.B), At[uint32](r, o.C), At[uint32](r, o.D2), At[uint32](r, o.D)
		for i := range d {
			if mask>>i&1 != 0 {
				d[i] = insert(a[i], b[i], c[i], n[i])
			}
		}
	}
}

// Predicates is d = f(a, b) on predicates by number.
func Predicates(d, a, b int32, notA, notB bool, f func(a, b uint32) uint32) Op {
	return func(r *File, _ *Regs, mask uint32) {
		x, y := r.Predicates[a], r.Predicates[b]
		if notA {
			x = ^x
		}
		if notB {
			y = ^y
		}
		r.Predicates[d] = r.Predicates[d]&^mask | f(x, y)&mask
	}
}

// Part is a register that holds some bits of another.
type Part struct {
	Offset int32 // -1: none
	Wide   bool
}

func (p Part) get(r *File, lane int) uint64 {
	if p.Wide {
		return At[uint64](r, p.Offset)[lane]
	}
	return uint64(At[uint32](r, p.Offset)[lane])
}

func (p Part) set(r *File, lane int, v uint64) {
	switch {
	case p.Offset < 0:
	case p.Wide:
		At[uint64](r, p.Offset)[lane] = v
	default:
		At[uint32](r, p.Offset)[lane] = uint32(v)
	}
}

// Pack joins parts of the given width, the first lowest.
func Pack(d Part, parts []Part, width int) Op {
	return func(r *File, _ *Regs, mask uint32) {
		for i := range Width {
			if mask>>i&1 == 0 {
				continue
			}
			var v uint64
			for k, p := range parts {
				v |= p.get(r, i) & (1<<width - 1) << (k * width)
			}
			d.set(r, i, v)
		}
	}
}

// Unpack cuts a into parts of the given width.
func Unpack(parts []Part, a Part, width int) Op {
	return func(r *File, _ *Regs, mask uint32) {
		for i := range Width {
			if mask>>i&1 == 0 {
				continue
			}
			v := a.get(r, i)
			for k, p := range parts {
				p.set(r, i, v>>(k*width)&(1<<width-1))
			}
		}
	}
}
