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
