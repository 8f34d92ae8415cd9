package conform

import (
	"slices"
	"strings"
)

// Signature returns the form of one instruction: its name tells what it reads and
// writes. It is false for an opcode or types that it does not know.
func Signature(name string) (Form, bool) {
	f := Form{Name: name}
	opcode, literal, _ := strings.Cut(name, " ")
	mods := strings.Split(opcode, ".")
	opcode, mods = mods[0], mods[1:]
	var types []string
	for _, m := range mods {
		if width(m) > 0 {
			types = append(types, m)
		}
	}
	if len(types) == 0 {
		return f, false
	}
	t := types[0]
	f.Results = []string{t}
	switch opcode {
	case "add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "mul24", "copysign":
		f.Operands = []string{t, t}
		if slices.Contains(mods, "wide") {
			f.Results[0] = double(t)
		}
	case "mad", "fma", "sad", "mad24":
		f.Operands = []string{t, t, t}
		if slices.Contains(mods, "wide") {
			f.Results[0], f.Operands[2] = double(t), double(t)
		}
	case "abs", "neg", "not", "cnot", "brev", "sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh":
		f.Operands = []string{t}
	case "popc", "clz", "bfind":
		f.Results[0], f.Operands = "u32", []string{t}
	case "shl", "shr":
		f.Operands = []string{t, "shift"}
	case "bfe":
		f.Operands = []string{t, "position", "position"}
	case "bfi":
		f.Operands = []string{t, t, "position", "position"}
	case "bmsk":
		f.Operands = []string{"position", "position"}
	case "szext":
		f.Operands = []string{t, "position"}
	case "fns":
		f.Operands = []string{t, "few", "offset"}
	case "shf":
		f.Operands = []string{t, t, "shift"}
	case "prmt", "dp4a", "dp2a", "lop3":
		f.Results[0], f.Operands = "b32", []string{"b32", "b32", "b32"}
	case "setp":
		f.Results[0], f.Operands = "pred", []string{t, t}
		f.combined(mods)
		if width(t) == 32 && strings.HasSuffix(t, "x2") {
			f.Results = []string{"pred", "pred"}
		}
	case "set":
		if len(types) < 2 {
			return f, false
		}
		f.Operands = []string{types[1], types[1]}
		f.combined(mods)
	case "selp":
		f.Operands = []string{t, t, "pred"}
	case "slct":
		if len(types) < 2 {
			return f, false
		}
		f.Operands = []string{t, t, types[1]}
	case "testp":
		f.Results[0], f.Operands = "pred", []string{t}
	case "cvt":
		if len(types) < 2 {
			return f, false
		}
		f.convert(t, types[1], slices.Contains(mods, "pack"), len(types) == 3)
	default:
		return f, false
	}
	f.Body = f.text(literal)
	f.Bound = bound(opcode, mods)
	return f, true
}

// combined adds the predicate that a comparison is combined with.
func (f *Form) combined(mods []string) {
	for _, m := range mods {
		if m == "and" || m == "or" || m == "xor" {
			f.Operands = append(f.Operands, "pred")
		}
	}
}

// convert sets the operands of cvt: pairs are made of two float32.
func (f *Form) convert(d, a string, pack, three bool) {
	f.Operands = []string{a}
	if (strings.HasSuffix(d, "x2") && a == "f32") || pack {
		f.Operands = []string{a, a}
	}
	if pack {
		f.Results[0] = "b32"
		if three {
			f.Operands = append(f.Operands, "b32")
		}
	}
}

// text is the one instruction of a form.
func (f *Form) text(literal string) string {
	opcode, _, _ := strings.Cut(f.Name, " ")
	names := []string{"%r0"}
	if len(f.Results) == 2 {
		names[0] = "%r0|%r1"
	}
	for i := range f.Operands {
		names = append(names, "%a"+string(rune('0'+i)))
	}
	if literal != "" {
		names = append(names, literal)
	}
	return opcode + " " + strings.Join(names, ", ") + ";"
}

// double is the type of twice the width.
func double(t string) string {
	switch t[1:] {
	case "16":
		return t[:1] + "32"
	case "32":
		return t[:1] + "64"
	}
	return t
}

// width is the bits of a value of a type, 0 for what is no type.
func width(t string) int {
	switch t {
	case "pred":
		return 1
	case "u8", "s8", "b8":
		return 8
	case "u16", "s16", "b16", "f16", "bf16", "e4m3x2", "e5m2x2":
		return 16
	case "u32", "s32", "b32", "f32", "tf32", "f16x2", "bf16x2", "u16x2", "s16x2", "shift", "position", "offset", "few", "seldom", "dense", "sparse",
		"unitf16", "unitbf16", "unitf32", "unite4m3", "unite5m2":
		return 32
	case "u64", "s64", "b64", "f64", "f32x2", "unitf64":
		return 64
	}
	return 0
}
