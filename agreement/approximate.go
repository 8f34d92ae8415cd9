package agreement

import (
	"slices"

	"mage/gpu/simt/ptx"
)

// approximate returns the instructions of a module that the manual bounds and does
// not determine: approximations, and sums of matrix products, whose order and
// intermediate precision it leaves open.
func approximate(text []byte) []string {
	m, err := ptx.Parse("ptx", text)
	if err != nil {
		return nil // loading the module tells
	}
	var names []string
	for _, f := range m.Functions {
		if f.Body != nil {
			walk(f.Body, func(in *ptx.Instruction) {
				loose := in.Opcode == "mma" || slices.Contains(in.Modifiers, "approx") || in.Opcode == "div" && slices.Contains(in.Modifiers, "full")
				if loose && !slices.Contains(names, in.Name()) {
					names = append(names, in.Name())
				}
			})
		}
	}
	slices.Sort(names)
	return names
}

// fusible reports whether a module has additions and multiplications without a
// rounding mode, which the compiler behind PTX may fuse.
func fusible(text []byte) bool {
	m, err := ptx.Parse("ptx", text)
	if err != nil {
		return false
	}
	var add, mul bool
	for _, f := range m.Functions {
		if f.Body != nil {
			walk(f.Body, func(in *ptx.Instruction) {
				rounded := slices.ContainsFunc(in.Modifiers, func(s string) bool { return s == "rn" || s == "rz" || s == "rm" || s == "rp" })
				float := slices.ContainsFunc(in.Modifiers, func(s string) bool { return s == "f32" || s == "f64" || s == "f16" || s == "f16x2" })
				add = add || float && !rounded && (in.Opcode == "add" || in.Opcode == "sub")
				mul = mul || float && !rounded && in.Opcode == "mul"
			})
		}
	}
	return add && mul
}

func walk(b *ptx.Block, f func(*ptx.Instruction)) {
	for _, s := range b.Statements {
		switch s := s.(type) {
		case *ptx.Instruction:
			f(s)
		case *ptx.Block:
			walk(s, f)
		}
	}
}
