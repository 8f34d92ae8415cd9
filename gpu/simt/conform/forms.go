package conform

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Form is one instruction with its types, or a short sequence of them.
type Form struct {
	// Name is the instruction, with the operands that are part of it:
	// "fma.rz.ftz.f32", "lop3.b32 0x96", "add.cc.u32; addc.u32".
	Name string
	// Results and Operands are the types: "s32", "f16x2", "pred".
	Results, Operands []string
	// Body is the text, with results %r0, %r1, … and operands %a0, %a1, …
	Body string
	// Bound is of instructions whose result the manual leaves open within limits.
	Bound *Bound
}

//go:embed sm_90.txt
var accepted string

// Forms returns every arithmetic, comparison and conversion instruction that
// ptxas accepts for sm_90 (sm_90.txt), sequences with the carry flag, and what
// exchanges values between lanes.
func Forms() []Form {
	var all []Form
	for name := range strings.Lines(accepted) {
		name = strings.TrimSpace(name)
		if name == "" || name[0] == '#' {
			continue
		}
		f, ok := Signature(name)
		if !ok {
			panic("sm_90.txt names an instruction without a signature: " + name)
		}
		all = append(all, f)
	}
	return slices.Concat(all, carries(), acrossLanes(), matrices())
}

// Select returns the forms whose name is one of names, or starts with one that
// ends in an asterisk.
func Select(all []Form, names []string) []Form {
	return slices.DeleteFunc(slices.Clone(all), func(f Form) bool {
		return !slices.ContainsFunc(names, func(n string) bool {
			return f.Name == n || strings.HasSuffix(n, "*") && strings.HasPrefix(f.Name, n[:len(n)-1])
		})
	})
}

// carries are sequences that hand on the carry flag, which no instruction shows.
func carries() []Form {
	var all []Form
	for _, t := range []string{"u32", "s32", "u64", "s64"} {
		for _, op := range []string{"add", "sub"} {
			all = append(all, Form{
				Name:    fmt.Sprintf("%s.cc.%s; %sc.cc.%s; %sc.%s", op, t, op, t, op, t),
				Results: []string{t, t, t}, Operands: []string{t, t, t, t, t, t},
				Body: fmt.Sprintf("%s.cc.%s %%r0, %%a0, %%a1; %sc.cc.%s %%r1, %%a2, %%a3; %sc.%s %%r2, %%a4, %%a5;", op, t, op, t, op, t),
			})
		}
		for _, part := range []string{"lo", "hi"} {
			all = append(all, Form{
				Name:    fmt.Sprintf("mad.%s.cc.%s; madc.%s.cc.%s; madc.%s.%s", part, t, part, t, part, t),
				Results: []string{t, t, t}, Operands: []string{t, t, t, t},
				Body: fmt.Sprintf("mad.%s.cc.%s %%r0, %%a0, %%a1, %%a2; madc.%s.cc.%s %%r1, %%a1, %%a2, %%a3; madc.%s.%s %%r2, %%a2, %%a3, %%a0;", part, t, part, t, part, t),
			})
		}
	}
	return all
}

// acrossLanes are instructions in which every lane of a warp takes part.
func acrossLanes() []Form {
	var all []Form
	for _, mode := range []string{"up", "down", "bfly", "idx"} {
		all = append(all, Form{Name: "shfl.sync." + mode + ".b32", Results: []string{"b32", "pred"}, Operands: []string{"b32", "shift", "b32"},
			Body: "shfl.sync." + mode + ".b32 %r0|%r1, %a0, %a1, %a2, -1;"})
	}
	for _, mode := range []string{"all", "any", "uni"} {
		all = append(all, Form{Name: "vote.sync." + mode + ".pred", Results: []string{"pred"}, Operands: []string{"seldom"},
			Body: "setp.ne.u32 %q1, %a0, 0; vote.sync." + mode + ".pred %r0, %q1, -1;"})
	}
	all = append(all, Form{Name: "vote.sync.ballot.b32", Results: []string{"b32"}, Operands: []string{"pred"},
		Body: "vote.sync.ballot.b32 %r0, %a0, -1;"})
	for _, t := range []string{"b32", "b64"} {
		wide := ""
		if t == "b64" {
			wide = "cvt.u64.u32 %d4, %a0; mul.lo.u64 %d4, %d4, 0x100000001; "
		} else {
			wide = "mov.b32 %t4, %a0; "
		}
		value := map[string]string{"b32": "%t4", "b64": "%d4"}[t]
		all = append(all,
			Form{Name: "match.any.sync." + t, Results: []string{"b32"}, Operands: []string{"few"},
				Body: wide + "match.any.sync." + t + " %r0, " + value + ", -1;"},
			Form{Name: "match.all.sync." + t, Results: []string{"b32", "pred"}, Operands: []string{"seldom"},
				Body: wide + "match.all.sync." + t + " %r0|%r1, " + value + ", -1;"})
	}
	for _, n := range Expand("redux.sync.{add.u32,add.s32,min.u32,min.s32,max.u32,max.s32,and.b32,or.b32,xor.b32}") {
		t := n[strings.LastIndexByte(n, '.')+1:]
		operand := map[string]string{"redux.sync.and.b32": "dense", "redux.sync.or.b32": "sparse"}[n]
		if operand == "" {
			operand = t
		}
		all = append(all, Form{Name: n, Results: []string{t}, Operands: []string{operand}, Body: n + " %r0, %a0, -1;"})
	}
	return all
}
