package simt_test

import (
	"math"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
)

// snippet is some PTX that sets %r1 (or %d1 if wide) from nothing; the kernel
// stores it per thread. Registers: %rN b32, %hN b16, %dN b64, %fN f32, %gN f64,
// %pN predicates.
type snippet struct {
	text string
	want func(thread int) uint64
}

func constant(v uint64) func(int) uint64 { return func(int) uint64 { return v } }

func f32(x float32) uint64 { return uint64(math.Float32bits(x)) }
func f64(x float64) uint64 { return math.Float64bits(x) }

func run(t *testing.T, s snippet, wide bool) []uint64 {
	t.Helper()
	store := "st.global.u64 [%d30], %d31;"
	move := "cvt.u64.u32 %d31, %r1;"
	if wide {
		move = "mov.b64 %d31, %d1;"
	}
	r := newRig(t, simt.Options{Workers: 1}, `.extern .shared .align 16 .b8 dyn[];
.func (.param .b32 ret) square(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x]; mul.lo.s32 %r2, %r1, %r1; st.param.b32 [ret], %r2; ret; }
.func (.param .b32 ret) early(.param .b32 x) { .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r1, [x]; setp.lt.s32 %p, %r1, 16; st.param.b32 [ret], 1; @%p ret; st.param.b32 [ret], 2; ret; }
.visible .entry k(.param .u64 out) {
.local .align 8 .b8 frame[64];
.reg .pred %p<10>; .reg .b32 %r<30>; .reg .b64 %d<32>; .reg .b16 %h<10>; .reg .f32 %f<30>; .reg .f64 %g<10>;
`+s.text+"\n"+move+`
ld.param.u64 %d30, [out]; mov.u32 %r29, %tid.x; mul.wide.u32 %d29, %r29, 8; add.s64 %d30, %d30, %d29;
`+store+"\nret;\n}")
	p := r.alloc(64)
	if err := r.run(1, 32, 4096, gpu.Pointer(p)); err != nil {
		t.Fatalf("%s: %v", s.text, err)
	}
	w := r.read(p, 64)
	out := make([]uint64, 32)
	for i := range out {
		out[i] = uint64(w[2*i]) | uint64(w[2*i+1])<<32
	}
	return out
}

func check(t *testing.T, list []snippet, wide bool) {
	t.Helper()
	for _, s := range list {
		for i, got := range run(t, s, wide) {
			if want := s.want(i); got != want {
				t.Errorf("%s\nthread %d: %#x, want %#x", s.text, i, got, want)
				break
			}
		}
	}
}

func TestIntegerInstructions(t *testing.T) {
	check(t, []snippet{
		{"mov.u32 %r2, %tid.x; mul.lo.s32 %r1, %r2, -3;", func(i int) uint64 { return uint64(uint32(-3 * i)) }},
		{"mul.hi.u32 %r1, 0xffffffff, 0xffffffff;", constant(0xfffffffe)},
		{"mul.hi.s32 %r1, -2, 3;", constant(0xffffffff)},
		{"mad.hi.s32 %r1, 0x40000000, 8, 5;", constant(7)},
		{"mul24.lo.u32 %r1, 0xff000003, 5;", constant(15)},
		{"div.s32 %r1, -7, 2;", constant(0xfffffffd)},
		{"rem.s32 %r1, -7, 2;", constant(0xffffffff)},
		{"div.u32 %r1, 7, 0;", constant(0xffffffff)},
		{"add.sat.s32 %r1, 0x7fffffff, 1;", constant(0x7fffffff)},
		{"abs.s32 %r1, -5;", constant(5)},
		{"min.s32 %r1, -5, 3;", constant(0xfffffffb)},
		{"max.u32 %r1, -5, 3;", constant(0xfffffffb)},
		{"shl.b32 %r1, 1, 33;", constant(0)},
		{"shr.s32 %r1, -8, 40;", constant(0xffffffff)},
		{"shf.l.wrap.b32 %r1, 0x80000001, 0x12345678, 36;", constant(0x23456788)},
		{"shf.r.clamp.b32 %r1, 0x80000001, 0x12345678, 4;", constant(0x88000000)},
		{"prmt.b32 %r1, 0x44332211, 0x88776655, 0x7531;", constant(0x88664422)},
		{"prmt.b32 %r1, 0x44332281, 0, 0x8888;", constant(0xffffffff)},
		{"lop3.b32 %r1, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96;", constant(0xf0f0f0f0 ^ 0xcccccccc ^ 0xaaaaaaaa)},
		{"lop3.b32 %r1, 0xff00ff00, 0x12345678, 0x9abcdef0, 0xca;", constant(0x12bc56f0)},
		{"bfe.u32 %r1, 0x12345678, 8, 12;", constant(0x456)},
		{"bfe.s32 %r1, 0x00000f00, 8, 4;", constant(0xffffffff)},
		{"bfi.b32 %r1, 0xabc, 0x11111111, 4, 8;", constant(0x11111bc1)},
		{"bfind.u32 %r1, 0x00010000;", constant(16)},
		{"bfind.shiftamt.s32 %r1, -2;", constant(31)},
		{"brev.b32 %r1, 1;", constant(0x80000000)},
		{"popc.b32 %r1, 0xf0f0;", constant(8)},
		{"clz.b32 %r1, 0x00010000;", constant(15)},
		{"bmsk.clamp.b32 %r1, 4, 8;", constant(0xff0)},
		{"bmsk.clamp.b32 %r1, 4, 40;", constant(0xfffffff0)},
		{"bmsk.wrap.b32 %r1, 36, 34;", constant(0x30)},
		{"szext.clamp.s32 %r1, 0x8f, 4;", constant(0xffffffff)},
		{"szext.wrap.u32 %r1, 0x8f, 36;", constant(0xf)},
		{"szext.clamp.s32 %r1, 0x8f, 32;", constant(0x8f)},
		{"fns.b32 %r1, 0xaaaaaaaa, 3, 2;", constant(5)},
		{"fns.b32 %r1, 0xaaaaaaaa, 3, -2;", constant(1)},
		{"fns.b32 %r1, 0xaaaaaaaa, 2, 0;", constant(0xffffffff)},
		{"cvt.pack.sat.s16.s32 %r1, 70000, -5;", constant(0x7ffffffb)},
		{"cvt.pack.sat.u8.s32.b32 %r1, 300, -5, 0x11112233;", constant(0x2233ff00)},
		{"sad.s32 %r1, -3, 4, 10;", constant(17)},
		{"dp4a.s32.s32 %r1, 0xff020304, 0x01010101, 100;", constant(108)},
		{"dp2a.lo.u32.u32 %r1, 0x00030002, 0x00000504, 1;", constant(24)},
		{"add.cc.u32 %r2, 0xffffffff, 1; addc.u32 %r1, 5, 0;", constant(6)},
		{"sub.cc.u32 %r2, 0, 1; subc.u32 %r1, 5, 0;", constant(4)},
		{"mov.b32 %h1, 0; mov.u16 %h1, 0xffff; add.s16 %h1, %h1, 2; cvt.u32.u16 %r1, %h1;", constant(1)},
		{"mov.u16 %h1, 0xfffe; mov.u16 %h2, 3; mul.wide.s16 %r1, %h1, %h2;", constant(0xfffffffa)},
		{"mov.u16 %h1, 0x8000; shr.s16 %h2, %h1, 3; cvt.u32.u16 %r1, %h2;", constant(0xf000)},
		{"setp.lt.s32 %p1|%p2, -1, 0; selp.b32 %r2, 1, 2, %p1; selp.b32 %r3, 10, 20, %p2; add.s32 %r1, %r2, %r3;", constant(21)},
		{"setp.lt.s32 %p1, 1, 2; setp.lo.u32.and %p2, 3, 2, %p1; selp.u32 %r1, 1, 2, %p2;", constant(2)},
		{"set.lt.u32.s32 %r1, -1, 0;", constant(0xffffffff)},
		{"slct.s32.s32 %r1, 7, 8, -1;", constant(8)},
		{"mov.b32 %r1, {0x1234, 0x5678};", constant(0x56781234)},
		{"mov.u32 %r2, 0x56781234; mov.b32 {%h1, %h2}, %r2; cvt.u32.u16 %r1, %h2;", constant(0x5678)},
	}, false)
	check(t, []snippet{
		{"mul.wide.s32 %d1, -3, 5;", constant(^uint64(14))},
		{"mad.wide.u32 %d1, 0xffffffff, 2, 1;", constant(0x1ffffffff)},
		{"mul.hi.u64 %d1, -1, -1;", constant(^uint64(1))},
		{"mul.hi.s64 %d1, -1, 3;", constant(^uint64(0))},
		{"div.s64 %d1, -7, 2;", constant(^uint64(2))},
		{"shl.b64 %d1, 1, 40;", constant(1 << 40)},
		{"bfe.s64 %d1, 0xf00, 8, 4;", constant(^uint64(0))},
		{"brev.b64 %d1, 1;", constant(1 << 63)},
		{"mov.b64 %d1, {1, 2};", constant(0x200000001)},
		{"cvt.s64.s32 %d1, -5;", constant(^uint64(4))},
		{"mov.u32 %r2, -5; cvt.s64.s8 %d1, %r2;", constant(^uint64(4))},
		{"cvt.u64.u32 %d1, -5;", constant(0xfffffffb)},
	}, true)
}

func TestFloatInstructions(t *testing.T) {
	one := float32(1)
	ulp := float32(0x1p-23)
	check(t, []snippet{
		{"add.rz.f32 %f1, 0f3F800000, 0f33FFFFFF; mov.b32 %r1, %f1;", constant(f32(one))},
		{"add.rp.f32 %f1, 0f3F800000, 0f00000001; mov.b32 %r1, %f1;", constant(f32(one + ulp))},
		{"add.rm.f32 %f1, 0f3F800000, 0fBF800000; mov.b32 %r1, %f1;", constant(0x80000000)},
		{"add.f32 %f1, 0f00000001, 0f00000001; mov.b32 %r1, %f1;", constant(2)},
		{"add.ftz.f32 %f1, 0f00000001, 0f00000001; mov.b32 %r1, %f1;", constant(0)},
		{"add.sat.f32 %f1, 0f3F800000, 0f3F800000; mov.b32 %r1, %f1;", constant(f32(1))},
		{"mul.f32 %f1, 0f7F800000, 0f00000000; mov.b32 %r1, %f1;", constant(0x7fffffff)},
		{"min.f32 %f1, 0f7FC00000, 0f40000000; mov.b32 %r1, %f1;", constant(f32(2))},
		{"min.NaN.f32 %f1, 0f7FC00000, 0f40000000; mov.b32 %r1, %f1;", constant(0x7fffffff)},
		{"min.f32 %f1, 0f00000000, 0f80000000; mov.b32 %r1, %f1;", constant(0x80000000)},
		{"max.f32 %f1, 0f80000000, 0f00000000; mov.b32 %r1, %f1;", constant(0)},
		{"div.rn.f32 %f1, 0f3F800000, 0f40400000; mov.b32 %r1, %f1;", constant(0x3eaaaaab)},
		{"div.rz.f32 %f1, 0f3F800000, 0f40400000; mov.b32 %r1, %f1;", constant(0x3eaaaaaa)},
		{"sqrt.rn.f32 %f1, 0f40000000; mov.b32 %r1, %f1;", constant(0x3fb504f3)},
		{"sqrt.rp.f32 %f1, 0f40000000; mov.b32 %r1, %f1;", constant(0x3fb504f4)},
		{"sqrt.rn.f32 %f1, 0fBF800000; mov.b32 %r1, %f1;", constant(0x7fffffff)},
		{"ex2.approx.f32 %f1, 0f40400000; mov.b32 %r1, %f1;", constant(f32(8))},
		{"lg2.approx.f32 %f1, 0f41000000; mov.b32 %r1, %f1;", constant(f32(3))},
		{"rsqrt.approx.f32 %f1, 0f40800000; mov.b32 %r1, %f1;", constant(f32(0.5))},
		{"tanh.approx.f32 %f1, 0fFF800000; mov.b32 %r1, %f1;", constant(f32(-1))},
		{"div.approx.f32 %f1, 0f3F800000, 0f7F000000; mov.b32 %r1, %f1;", constant(0)},
		{"div.full.f32 %f1, 0f40C00000, 0f40000000; mov.b32 %r1, %f1;", constant(f32(3))},
		{"setp.ltu.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r1, 1, 0, %p1;", constant(1)},
		{"setp.ne.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r1, 1, 0, %p1;", constant(0)},
		{"setp.num.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r1, 1, 0, %p1;", constant(0)},
		{"testp.subnormal.f32 %p1, 0f00000001; selp.u32 %r1, 1, 0, %p1;", constant(1)},
		{"copysign.f32 %f1, 0fBF800000, 0f40000000; mov.b32 %r1, %f1;", constant(f32(-2))},
		{"mov.u32 %r2, 0x3c004000; fma.rn.f16x2 %r1, %r2, %r2, %r2;", constant(0x40004600)},
		{"mov.b32 %r2, 0x7bff; mov.b32 {%h1, %h2}, %r2; add.f16 %h1, %h1, %h1; cvt.u32.u16 %r1, %h1;", constant(0x7c00)},
		{"mov.u32 %r2, 0x3f803f80; add.rn.bf16x2 %r1, %r2, %r2;", constant(0x40004000)},
	}, false)
	check(t, []snippet{
		{"add.rp.f64 %g1, 0d3FF0000000000000, 0d0000000000000001; mov.b64 %d1, %g1;", constant(f64(1) + 1)},
		{"mul.rz.f64 %g1, 0d3FB999999999999A, 0d4024000000000000; mov.b64 %d1, %g1;", constant(f64(1))},
		{"div.rm.f64 %g1, 0d3FF0000000000000, 0d4008000000000000; mov.b64 %d1, %g1;", constant(0x3fd5555555555555)},
		{"div.rp.f64 %g1, 0d3FF0000000000000, 0d4008000000000000; mov.b64 %d1, %g1;", constant(0x3fd5555555555556)},
		{"fma.rn.f64 %g1, 0d4008000000000000, 0d4008000000000000, 0d3FF0000000000000; mov.b64 %d1, %g1;", constant(f64(10))},
		{"fma.rm.f64 %g1, 0d3FF0000000000000, 0d3FF0000000000000, 0dBFF0000000000000; mov.b64 %d1, %g1;", constant(1 << 63)},
		{"sqrt.rp.f64 %g1, 0d4000000000000000; mov.b64 %d1, %g1;", constant(0x3ff6a09e667f3bcd)},
		{"sqrt.rm.f64 %g1, 0d4000000000000000; mov.b64 %d1, %g1;", constant(0x3ff6a09e667f3bcc)},
	}, true)
}

func TestConversions(t *testing.T) {
	check(t, []snippet{
		{"cvt.rni.s32.f32 %r1, 0f40200000;", constant(2)},
		{"cvt.rpi.s32.f32 %r1, 0f40200000;", constant(3)},
		{"cvt.rzi.u32.f32 %r1, 0fBF800000;", constant(0)},
		{"cvt.rzi.s32.f32 %r1, 0f7F800000;", constant(0x7fffffff)},
		{"cvt.rzi.s32.f32 %r1, 0f7FC00000;", constant(0)},
		{"cvt.rzi.s32.f64 %r1, 0d7FF8000000000000;", constant(0x80000000)},
		{"cvt.rn.f32.u32 %f1, 0xffffffff; mov.b32 %r1, %f1;", constant(f32(0x1p32))},
		{"cvt.rz.f32.u32 %f1, 0xffffffff; mov.b32 %r1, %f1;", constant(0x4f7fffff)},
		{"cvt.rn.f32.s64 %f1, -3; mov.b32 %r1, %f1;", constant(f32(-3))},
		{"cvt.rn.f16.f32 %h1, 0f3F801000; cvt.u32.u16 %r1, %h1;", constant(0x3c00)},
		{"cvt.rn.f16.f32 %h1, 0f477FF000; cvt.u32.u16 %r1, %h1;", constant(0x7c00)},
		{"cvt.rz.f16.f32 %h1, 0f477FF000; cvt.u32.u16 %r1, %h1;", constant(0x7bff)},
		{"cvt.rn.f16.f32 %h1, 0f33000000; cvt.u32.u16 %r1, %h1;", constant(0)},
		{"cvt.rn.f16.f32 %h1, 0f33000001; cvt.u32.u16 %r1, %h1;", constant(1)},
		{"cvt.rn.bf16.f32 %h1, 0f3F808000; cvt.u32.u16 %r1, %h1;", constant(0x3f80)},
		{"cvt.rn.bf16.f32 %h1, 0f3F818000; cvt.u32.u16 %r1, %h1;", constant(0x3f82)},
		{"cvt.rn.bf16x2.f32 %r1, 0f3F800000, 0f40000000;", constant(0x3f804000)},
		{"mov.b32 %r2, 0x0001; mov.b32 {%h1, %h2}, %r2; cvt.f32.f16 %f1, %h1; mov.b32 %r1, %f1;", constant(f32(0x1p-24))},
		{"cvt.rna.tf32.f32 %r1, 0f3F801000;", constant(0x3f802000)},
		{"cvt.rn.satfinite.e4m3x2.f32 %h1, 0f44800000, 0f3F800000; cvt.u32.u16 %r1, %h1;", constant(0x7e38)},
		{"cvt.sat.u8.s32 %r1, 300;", constant(255)},
		{"cvt.u8.u32 %r1, 300;", constant(44)},
		{"cvt.s32.s8 %r1, 0x80;", constant(0xffffff80)},
		{"cvt.rmi.f32.f32 %f1, 0fBFC00000; mov.b32 %r1, %f1;", constant(f32(-2))},
		{"cvt.sat.f32.f32 %f1, 0f7FC00000; mov.b32 %r1, %f1;", constant(0)},
		{"cvt.rp.f32.f64 %f1, 0d3FF0000000000001; mov.b32 %r1, %f1;", constant(0x3f800001)},
	}, false)
	check(t, []snippet{
		{"cvt.rzi.s64.f32 %d1, 0f7FC00000;", constant(1 << 63)},
		{"cvt.rzi.u64.f64 %d1, 0d43F0000000000000;", constant(^uint64(0))},
		{"cvt.rn.f64.u64 %g1, 0xffffffffffffffff; mov.b64 %d1, %g1;", constant(f64(0x1p64))},
		{"cvt.rm.f64.u64 %g1, 0xffffffffffffffff; mov.b64 %d1, %g1;", constant(0x43efffffffffffff)},
		{"cvt.f64.f32 %g1, 0f3FC00000; mov.b64 %d1, %g1;", constant(f64(1.5))},
	}, true)
}

func TestWarpInstructions(t *testing.T) {
	tid := "mov.u32 %r2, %tid.x;"
	check(t, []snippet{
		{tid + "shfl.sync.up.b32 %r1, %r2, 1, 0, -1;", func(i int) uint64 { return uint64(max(i-1, 0)) }},
		{tid + "shfl.sync.down.b32 %r1, %r2, 4, 31, -1;", func(i int) uint64 {
			if i+4 > 31 {
				return uint64(i)
			}
			return uint64(i + 4)
		}},
		{tid + "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", func(i int) uint64 { return uint64(i ^ 16) }},
		{tid + "shfl.sync.idx.b32 %r1, %r2, 3, 0x181f, -1;", func(i int) uint64 { return uint64(i&^7 | 3) }},
		{tid + "setp.lt.u32 %p1, %r2, 5; vote.sync.ballot.b32 %r1, %p1, -1;", constant(31)},
		{tid + "setp.lt.u32 %p1, %r2, 5; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", constant(1)},
		{tid + "setp.lt.u32 %p1, %r2, 5; vote.sync.all.pred %p2, !%p1, -1; selp.u32 %r1, 1, 0, %p2;", constant(0)},
		{tid + "and.b32 %r3, %r2, 1; match.any.sync.b32 %r1, %r3, -1;", func(i int) uint64 { return 0x55555555 << (i & 1) }},
		{"mov.u32 %r2, 7; match.all.sync.b32 %r3|%p1, %r2, -1; selp.u32 %r1, %r3, 0, %p1;", constant(0xffffffff)},
		{tid + "redux.sync.add.u32 %r1, %r2, -1;", constant(496)},
		{tid + "sub.s32 %r2, %r2, 5; redux.sync.min.s32 %r1, %r2, -1;", constant(0xfffffffb)},
		{tid + "mov.u32 %r1, 0; setp.gt.u32 %p1, %r2, 7; @%p1 activemask.b32 %r1;", func(i int) uint64 {
			if i > 7 {
				return 0xffffff00
			}
			return 0
		}},
		{"mov.u32 %r1, %lanemask_lt;", func(i int) uint64 { return 1<<i - 1 }},
		{"elect.sync %r2|%p1, -1; selp.u32 %r1, 1, 0, %p1;", func(i int) uint64 {
			if i == 0 {
				return 1
			}
			return 0
		}},
		{tid + "setp.lt.u32 %p1, %r2, 5; bar.red.popc.u32 %r1, 0, %p1;", constant(5)},
	}, false)
}
