package simt_test

import (
	"fmt"
	"strings"
	"testing"

	"mage/contract"
	"mage/gpu"
	"mage/gpu/simt"
)

// loop is a kernel that repeats an instruction 16 times in a loop of n rounds.
func loop(registers, instruction string) string {
	return fmt.Sprintf(`.visible .entry k(.param .u32 n) {
	.reg .pred %%p<2>; .reg .b32 %%r<4>; %s
	ld.param.u32 %%r1, [n];
L:
	%s
	add.s32 %%r1, %%r1, -1;
	setp.ne.s32 %%p1, %%r1, 0;
	@%%p1 bra L;
	ret;
}`, registers, strings.Repeat(instruction+"\n\t", 16))
}

// BenchmarkArithmetic reports lane-instructions per second on one core.
func BenchmarkArithmetic(b *testing.B) {
	for _, x := range []struct{ name, registers, instruction string }{
		{"add.s32", ".reg .b32 %a<4>;", "add.s32 %a1, %a2, %a1;"},
		{"mad.lo.s32", ".reg .b32 %a<4>;", "mad.lo.s32 %a1, %a2, %a3, %a1;"},
		{"add.s64", ".reg .b64 %a<4>;", "add.s64 %a1, %a2, %a1;"},
		{"mul.wide.u32", ".reg .b32 %a<4>; .reg .b64 %d;", "mul.wide.u32 %d, %a1, %a2;"},
		{"add.f32", ".reg .f32 %a<4>;", "add.f32 %a1, %a2, %a1;"},
		{"fma.rn.f32", ".reg .f32 %a<4>;", "fma.rn.f32 %a1, %a2, %a3, %a1;"},
		{"fma.rn.f64", ".reg .f64 %a<4>;", "fma.rn.f64 %a1, %a2, %a3, %a1;"},
		{"setp.lt.s32", ".reg .b32 %a<4>; .reg .pred %q;", "setp.lt.s32 %q, %a1, %a2;"},
		{"tanh.approx.f32", ".reg .f32 %a<4>;", "tanh.approx.f32 %a1, %a1;"},
		{"div.rn.f32", ".reg .f32 %a<4>;", "div.rn.f32 %a1, %a1, %a2;"},
		{"fma.rn.f16x2", ".reg .b32 %a<4>; mov.b32 %a2, 0x3abc3801; mov.b32 %a3, 0x3c013c0f;", "fma.rn.f16x2 %a1, %a2, %a1, %a3;"},
		{"fma.rn.bf16x2", ".reg .b32 %a<4>; mov.b32 %a2, 0x3f003f03; mov.b32 %a3, 0x3f803f81;", "fma.rn.bf16x2 %a1, %a2, %a1, %a3;"},
		{"ex2.approx.f32", ".reg .f32 %a<4>;", "ex2.approx.f32 %a1, %a1;"},
		{"cvt.rn.f16.f32", ".reg .b16 %h; .reg .f32 %f<2>; mov.f32 %f1, 0f3F812345;", "cvt.rn.f16.f32 %h, %f1;"},
		{"cvt.f32.f16", ".reg .b16 %h; .reg .f32 %f<2>;", "cvt.f32.f16 %f1, %h;"},
		{"cvt.rni.s32.f32", ".reg .b32 %a<4>; .reg .f32 %f;", "cvt.rni.s32.f32 %a1, %f;"},
		{"lop3.b32", ".reg .b32 %a<4>;", "lop3.b32 %a1, %a2, %a3, %a1, 0x96;"},
		{"shf.l.wrap.b32", ".reg .b32 %a<4>;", "shf.l.wrap.b32 %a1, %a2, %a3, 7;"},
		{"prmt.b32", ".reg .b32 %a<4>;", "prmt.b32 %a1, %a2, %a3, 0x5410;"},
		{"bfe.u32", ".reg .b32 %a<4>;", "bfe.u32 %a1, %a2, 8, 8;"},
		{"max.f32", ".reg .f32 %a<4>;", "max.f32 %a1, %a2, %a1;"},
		{"selp.b32", ".reg .b32 %a<4>;", "selp.b32 %a1, %a2, %a3, %p1;"},
		{"rem.u32", ".reg .b32 %a<4>; mov.b32 %a2, 77;", "rem.u32 %a1, %r1, %a2;"},
		{"shfl.sync", ".reg .b32 %a<4>;", "shfl.sync.bfly.b32 %a1, %a2, 1, 31, -1;"},
		{"cvt.rzi.s32.f32", ".reg .b32 %a<4>; .reg .f32 %f;", "cvt.rzi.s32.f32 %a1, %f;"},
	} {
		b.Run(x.name, func(b *testing.B) {
			r := newRig(b, simt.Options{Workers: 1}, loop(x.registers, x.instruction))
			for range b.N {
				if err := r.run(1, 256, 0, gpu.Uint32(1000)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.device.Counters().Lanes)/b.Elapsed().Seconds()/1e6, "Mlane-instr/s")
		})
	}
}

// BenchmarkContracts runs each built-in kernel, with all checks, on one core.
func BenchmarkContracts(b *testing.B) {
	dims := map[string]contract.Dims{
		"matmul": {"M": 128, "N": 128, "K": 128}, "gelu": {"R": 256, "D": 768}, "layernorm": {"R": 256, "D": 768},
		"triangle": {"N": 32, "C": 8}, "neighbor": {"N": 256, "F": 64, "E": 4096},
	}
	for _, c := range contract.All() {
		b.Run(c.Name(), func(b *testing.B) {
			d, all := laboratory(b, simt.Options{Workers: 1}, builtin(b))
			g := cases(b, c)[0]
			g.dims = dims[c.Name()]
			op, err := all[0].Open(c, g.dims, g.inputs(b, 1))
			if err != nil {
				b.Fatal(err)
			}
			if err := op.(interface{ Poison(byte) error }).Poison(0xff); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if err := op.Run(); err != nil {
					b.Fatal(err)
				}
			}
			ran := float64(d.Counters().Lanes) * float64(b.N) // each run counts anew
			b.ReportMetric(ran/b.Elapsed().Seconds()/1e6, "Mlane-instr/s")
		})
	}
}
