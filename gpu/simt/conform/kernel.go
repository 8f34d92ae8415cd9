package conform

import (
	"fmt"
	"strings"
)

// PTX returns a module with one kernel per form, named k0, k1, …: each thread reads
// its operands and writes the results' bits, in arrays of 64-bit words that lie
// stride bytes apart.
func PTX(forms []Form) string {
	var b strings.Builder
	b.WriteString(".version 8.6\n.target sm_90\n.address_size 64\n")
	for i, f := range forms {
		f.kernel(&b, i)
	}
	return b.String()
}

// register is the bits of the register that holds a type.
func register(t string) int { return max(width(t), 16) }

func (f Form) kernel(b *strings.Builder, number int) {
	fmt.Fprintf(b, ".visible .entry k%d(.param .u64 out, .param .u64 in, .param .u64 stride) { // %s\n", number, f.Name)
	b.WriteString("\t.reg .pred %q<8>; .reg .b32 %t<8>; .reg .b64 %d<8>;\n")
	b.WriteString("\tmov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2; mul.wide.u32 %d0, %t0, 8;\n")
	b.WriteString("\tld.param.u64 %d3, [stride]; ld.param.u64 %d1, [in]; add.u64 %d1, %d1, %d0;\n")
	for i, t := range f.Operands {
		if t == "pred" {
			fmt.Fprintf(b, "\t.reg .pred %%a%d; ld.global.b32 %%t3, [%%d1]; setp.ne.u32 %%a%d, %%t3, 0; add.u64 %%d1, %%d1, %%d3;\n", i, i)
			continue
		}
		n := register(t)
		fmt.Fprintf(b, "\t.reg .b%d %%a%d; ld.global.b%d %%a%d, [%%d1]; add.u64 %%d1, %%d1, %%d3;\n", n, i, n, i)
	}
	for i, t := range f.Results {
		if t == "pred" {
			fmt.Fprintf(b, "\t.reg .pred %%r%d;\n", i)
		} else {
			fmt.Fprintf(b, "\t.reg .b%d %%r%d;\n", register(t), i)
		}
	}
	fmt.Fprintf(b, "\t%s\n\tld.param.u64 %%d1, [out]; add.u64 %%d1, %%d1, %%d0;\n", f.Body)
	for i, t := range f.Results {
		switch n := register(t); {
		case t == "pred":
			fmt.Fprintf(b, "\tselp.b64 %%d2, 1, 0, %%r%d;\n", i)
		case n == 64:
			fmt.Fprintf(b, "\tmov.b64 %%d2, %%r%d;\n", i)
		default:
			fmt.Fprintf(b, "\tcvt.u64.u%d %%d2, %%r%d;\n", n, i)
		}
		b.WriteString("\tst.global.u64 [%d1], %d2; add.u64 %d1, %d1, %d3;\n")
	}
	b.WriteString("\tret;\n}\n")
}
