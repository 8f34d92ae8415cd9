package conform

import (
	"fmt"
	"strings"
)

// PTX returns a module with one kernel per form, named k0, k1, …: each thread reads
// its operands from four arrays of 64-bit words and writes the result's bits.
func PTX(forms []Form) string {
	var b strings.Builder
	b.WriteString(".version 8.6\n.target sm_90\n.address_size 64\n")
	for i, f := range forms {
		f.kernel(&b, i)
	}
	return b.String()
}

// width is the bits of the register that holds a type.
func width(t string) int {
	switch t {
	case "pred":
		return 1
	case "shift", "position", "f16x2", "bf16x2":
		return 32
	case "bf16":
		return 16
	}
	var n int
	fmt.Sscanf(strings.TrimLeft(t, "ubsf"), "%d", &n)
	return n
}

func (f Form) kernel(b *strings.Builder, number int) {
	fmt.Fprintf(b, ".visible .entry k%d(.param .u64 out, .param .u64 in0, .param .u64 in1, .param .u64 in2, .param .u64 in3) { // %s\n", number, f.Name)
	fmt.Fprintf(b, "\t.reg .pred %%p; .reg .b32 %%t<4>; .reg .b64 %%d<16>;\n")
	b.WriteString("\tmov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2; mul.wide.u32 %d0, %t0, 8;\n")
	names := []string{"%r"}
	for i, t := range f.Operands {
		n := width(t)
		fmt.Fprintf(b, "\t.reg .b%d %%a%d; ld.param.u64 %%d1, [in%d]; add.u64 %%d1, %%d1, %%d0; ld.global.b%d %%a%d, [%%d1];\n", n, i, i, n, i)
		names = append(names, fmt.Sprintf("%%a%d", i))
	}
	if f.Result == "pred" {
		names[0] = "%p"
		fmt.Fprintf(b, "\t%s %s;\n\tselp.b64 %%d2, 1, 0, %%p;\n", f.Name, strings.Join(names, ", "))
	} else {
		n := width(f.Result)
		fmt.Fprintf(b, "\t.reg .b%d %%r;\n\t%s %s;\n", n, f.Name, strings.Join(names, ", "))
		if n == 64 {
			b.WriteString("\tmov.b64 %d2, %r;\n")
		} else {
			fmt.Fprintf(b, "\tcvt.u64.u%d %%d2, %%r;\n", n)
		}
	}
	b.WriteString("\tld.param.u64 %d1, [out]; add.u64 %d1, %d1, %d0; st.global.u64 [%d1], %d2;\n\tret;\n}\n")
}
