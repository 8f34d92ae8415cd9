package conform

import (
	"fmt"
	"strings"
)

// Form is one instruction with its types.
type Form struct {
	// Name is the instruction without operands: "fma.rz.ftz.f32".
	Name string
	// Result and Operands are the types: "s32", "f16x2", "pred".
	Result   string
	Operands []string
}

// Forms returns every arithmetic and conversion instruction of the subset whose
// result the PTX manual determines to the bit.
func Forms() []Form {
	var all []Form
	add := func(result string, operands string, names ...string) {
		for _, n := range names {
			all = append(all, Form{n, result, strings.Fields(operands)})
		}
	}
	for _, t := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
		two := t + " " + t
		add(t, two, "add."+t, "sub."+t, "mul.lo."+t, "mul.hi."+t, "min."+t, "max."+t)
		add(t, two+" "+t, "mad.lo."+t)
		b := "b" + t[1:]
		if t[0] == 's' {
			add(t, t, "abs."+t, "neg."+t)
			add(b, b+" "+b, "and."+b, "or."+b, "xor."+b)
			add(b, b, "not."+b)
			add(b, b+" shift", "shl."+b)
		}
		add(t, t+" shift", "shr."+t)
		for _, op := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
			add("pred", two, "setp."+op+"."+t)
		}
		if t[1:] != "64" {
			add(map[string]string{"16": "b32", "32": "b64"}[t[1:]], two, "mul.wide."+t)
		}
		if t[1:] != "16" {
			add(t, two+" "+t, "mad.hi."+t, "sad."+t)
			add("u32", t, "bfind."+t, "bfind.shiftamt."+t)
			add(t, t+" position position", "bfe."+t)
		}
	}
	for _, b := range []string{"b32", "b64"} {
		add("u32", b, "popc."+b, "clz."+b)
		add(b, b, "brev."+b)
		add(b, b+" "+b+" position position", "bfi."+b)
	}
	add("s32", "s32 s32", "add.sat.s32", "sub.sat.s32", "mul24.lo.s32")
	add("u32", "u32 u32", "mul24.lo.u32")
	add("b32", "b32 b32 shift", "shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32")
	add("b32", "b32 b32 b32", "prmt.b32", "prmt.b32.f4e", "prmt.b32.b4e", "prmt.b32.rc8", "prmt.b32.ecl", "prmt.b32.ecr", "prmt.b32.rc16")
	add("b32", "b32 b32 b32", "dp4a.u32.u32", "dp4a.s32.s32", "dp4a.u32.s32", "dp2a.lo.s32.s32", "dp2a.hi.u32.u32")
	all = append(all, floats()...)
	return append(all, conversions()...)
}

func floats() []Form {
	var all []Form
	add := func(result string, operands string, names ...string) {
		for _, n := range names {
			all = append(all, Form{n, result, strings.Fields(operands)})
		}
	}
	for _, r := range []string{"rn", "rz", "rm", "rp"} {
		for _, f := range []string{"", ".ftz"} {
			m := "." + r + f + ".f32"
			add("f32", "f32 f32", "add"+m, "sub"+m, "mul"+m, "div"+m)
			add("f32", "f32", "sqrt"+m, "rcp"+m)
			add("f32", "f32 f32 f32", "fma"+m)
		}
		m := "." + r + ".f64"
		add("f64", "f64 f64", "add"+m, "sub"+m, "mul"+m, "div"+m)
		add("f64", "f64", "sqrt"+m, "rcp"+m)
		add("f64", "f64 f64 f64", "fma"+m)
	}
	add("f32", "f32 f32", "add.sat.f32", "mul.sat.f32", "min.f32", "max.f32", "min.ftz.f32", "min.NaN.f32", "max.NaN.f32")
	add("f32", "f32 f32 f32", "fma.rn.sat.f32")
	add("f32", "f32", "neg.f32", "abs.f32", "neg.ftz.f32", "abs.ftz.f32")
	add("f64", "f64 f64", "min.f64", "max.f64")
	add("f64", "f64", "neg.f64", "abs.f64")
	for _, t := range []string{"f16", "f16x2", "bf16", "bf16x2"} {
		add(t, t+" "+t, "add.rn."+t, "sub.rn."+t, "mul.rn."+t, "min."+t, "max."+t, "min.NaN."+t)
		add(t, t+" "+t+" "+t, "fma.rn."+t, "fma.rn.relu."+t)
		add(t, t, "neg."+t, "abs."+t)
	}
	add("f16", "f16 f16", "add.ftz.f16", "add.sat.f16", "mul.ftz.f16")
	for _, op := range []string{"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"} {
		for _, t := range []string{"f16", "f32", "f64"} {
			add("pred", t+" "+t, "setp."+op+"."+t)
		}
		add("pred", "f32 f32", "setp."+op+".ftz.f32")
	}
	return all
}

func conversions() []Form {
	var all []Form
	add := func(name, d, a string) {
		all = append(all, Form{fmt.Sprintf("cvt%s.%s.%s", name, d, a), d, []string{a}})
	}
	integers := []string{"u16", "s16", "u32", "s32", "u64", "s64"}
	for _, a := range integers {
		for _, d := range integers {
			if a == d {
				continue
			}
			add("", d, a)
			// Saturation is refused where every value fits.
			if width(d) <= width(a) || a[0] == 's' && d[0] == 'u' {
				add(".sat", d, a)
			}
		}
		for _, r := range []string{".rn", ".rz", ".rm", ".rp"} {
			add(r, "f32", a)
			add(r, "f64", a)
			add(r, "f16", a)
		}
	}
	for _, d := range integers {
		for _, r := range []string{".rni", ".rzi", ".rmi", ".rpi"} {
			for _, a := range []string{"f16", "f32", "f64"} {
				add(r, d, a)
			}
			add(r+".ftz", d, "f32")
		}
	}
	for _, r := range []string{".rn", ".rz", ".rm", ".rp"} {
		add(r, "f32", "f64")
		add(r+".ftz", "f32", "f64")
		add(r+"i", "f32", "f32")
		add(r+"i", "f64", "f64")
	}
	for _, r := range []string{".rn", ".rz"} {
		add(r, "f16", "f32")
		add(r, "bf16", "f32")
		add(r+".relu", "f16", "f32")
	}
	add(".sat", "f32", "f32")
	add(".rn.sat", "f16", "f32")
	add("", "f32", "f16")
	add(".sat", "f32", "f16")
	add("", "f64", "f32")
	add(".ftz", "f64", "f32")
	add("", "f64", "f16")
	add("", "f32", "bf16")
	for _, r := range []string{".rn", ".rz", ".rn.relu"} {
		all = append(all, Form{"cvt" + r + ".f16x2.f32", "f16x2", []string{"f32", "f32"}},
			Form{"cvt" + r + ".bf16x2.f32", "bf16x2", []string{"f32", "f32"}})
	}
	return append(all, Form{"cvt.rna.tf32.f32", "b32", []string{"f32"}},
		Form{"cvt.rn.satfinite.e4m3x2.f32", "b16", []string{"f32", "f32"}},
		Form{"cvt.rn.satfinite.e5m2x2.f32", "b16", []string{"f32", "f32"}},
		Form{"cvt.rn.f16x2.e4m3x2", "f16x2", []string{"b16"}}, Form{"cvt.rn.f16x2.e5m2x2", "f16x2", []string{"b16"}})
}
