package program

import "mage/gpu/simt/lanes"

func nothing(*lanes.File, *lanes.Regs, uint32) {}

func zeroWide(d int32) lanes.Op {
	return func(r *lanes.File, _ *lanes.Regs, mask uint32) {
		v := lanes.At[uint64](r, d)
		for i := range v {
			if mask>>i&1 != 0 {
				v[i] = 0
			}
		}
	}
}

// window is where a space begins in the generic one.
func window(s Space) uint64 {
	switch s {
	case Shared:
		return SharedWindow
	case Local:
		return LocalWindow
	case EntryParam:
		return ParamWindow
	}
	return 0
}

// addressOp converts addresses. Global and constant memory keep theirs. The null
// pointer of the generic space is that of every window, and stays what it is.
func addressOp(s Space, to bool) lanes.Op {
	w := window(s)
	switch {
	case w == 0:
		return lanes.Unary(lanes.Move[uint64])
	case to:
		return lanes.Unary(func(d, a *[lanes.Width]uint64) {
			for i := range d {
				d[i] = a[i] &^ w
			}
		})
	}
	return lanes.Unary(func(d, a *[lanes.Width]uint64) {
		for i := range d {
			d[i] = a[i] | w
		}
	})
}

func isSpaceOp(s Space) lanes.Op {
	return lanes.SetPredicate(lanes.EachTest2(func(a, _ uint64) bool {
		got, _ := Window(a)
		if s == Const {
			s = Global
		}
		return got == s
	}), "")
}
