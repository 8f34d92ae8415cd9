package simt_test

import (
	"fmt"
	"strings"
	"testing"

	"mage/gpu/simt"
	"mage/unavailable"
)

// TestMbarriers gives each thread an object of its own.
func TestMbarriers(t *testing.T) {
	own := "mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 8; mov.u64 %d3, dyn; add.s64 %d3, %d3, %d2; "
	check(t, []snippet{
		{own + "mbarrier.init.shared::cta.b64 [%d3], 3; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%d3], 16; mbarrier.arrive.shared.b64 %d4, [%d3]; mbarrier.pending_count.b64 %r1, %d4;", constant(2)},
		{own + "mbarrier.init.shared.b64 [%d3], 1; mbarrier.arrive.shared.b64 %d4, [%d3]; mbarrier.test_wait.shared.b64 %p1, [%d3], %d4; selp.u32 %r1, 1, 0, %p1;", constant(1)},
		{own + "mbarrier.init.shared.b64 [%d3], 1; mbarrier.arrive.expect_tx.shared.b64 %d4, [%d3], 8; mbarrier.test_wait.shared.b64 %p1, [%d3], %d4; selp.u32 %r3, 1, 0, %p1; mbarrier.complete_tx.relaxed.cta.shared.b64 [%d3], 8; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%d3], 0, 100; selp.u32 %r4, 2, 0, %p2; or.b32 %r1, %r3, %r4;", constant(2)},
		{own + "mbarrier.init.shared.b64 [%d3], 2; mbarrier.arrive_drop.shared.b64 _, [%d3]; mbarrier.arrive.shared.b64 _, [%d3]; mbarrier.arrive.shared.b64 %d4, [%d3]; mbarrier.pending_count.b64 %r1, %d4;", constant(1)},
		{own + "cvta.shared.u64 %d5, %d3; mbarrier.init.b64 [%d5], 4; mbarrier.arrive.noComplete.shared.b64 _, [%d3], 3; mbarrier.arrive.b64 _, [%d5]; mbarrier.test_wait.parity.b64 %p1, [%d5], 0; selp.u32 %r1, 1, 0, %p1;", constant(1)},
		{own + "mbarrier.init.shared.b64 [%d3], 1; mbarrier.test_wait.parity.shared.b64 %p1, [%d3], 1; selp.u32 %r1, 1, 0, %p1; mbarrier.inval.shared.b64 [%d3];", constant(1)},
	}, false)
}

func TestMemoryAndControl(t *testing.T) {
	tid := "mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; mov.u64 %d3, dyn; add.s64 %d3, %d3, %d2;"
	own := "ld.param.u64 %d4, [out]; mov.u32 %r3, %tid.x; mul.wide.u32 %d5, %r3, 8; add.s64 %d4, %d4, %d5; "
	check(t, []snippet{
		{tid + "mov.u64 %d4, frame; st.local.u32 [%d4+8], %r2; ld.local.u32 %r1, [%d4+8];", func(i int) uint64 { return uint64(i) }},
		{"mov.u64 %d4, frame; ld.local.u32 %r1, [%d4+4];", constant(0xcdcdcdcd)}, // nobody wrote it
		{tid + "mov.u64 %d4, frame; cvta.local.u64 %d5, %d4; st.u32 [%d5], %r2; ld.u32 %r1, [%d5];", func(i int) uint64 { return uint64(i) }},
		{tid + "cvta.shared.u64 %d5, %d3; st.u32 [%d5], %r2; ld.shared.u32 %r1, [%d3];", func(i int) uint64 { return uint64(i) }},
		{tid + "st.shared.u32 [%d3], -2; ld.shared.s8 %r1, [%d3];", constant(0xfffffffe)},
		{tid + "st.shared.u32 [%d3], 5; atom.shared.add.u32 %r3, [%d3], 3; ld.shared.u32 %r4, [%d3]; add.s32 %r1, %r3, %r4;", constant(13)},
		{tid + "st.shared.u32 [%d3], 5; atom.shared.cas.b32 %r3, [%d3], 5, 9; ld.shared.u32 %r1, [%d3];", constant(9)},
		{tid + "st.shared.u32 [%d3], 5; atom.shared.inc.u32 %r3, [%d3], 5; ld.shared.u32 %r1, [%d3];", constant(0)},
		{tid + "st.shared.f32 [%d3], 0f3F800000; red.shared.add.f32 [%d3], 0f40000000; ld.shared.u32 %r1, [%d3];", constant(f32(3))},
		{tid + ".reg .b32 %q; { .reg .b32 %q; mov.u32 %q, 1; } mov.u32 %q, 2; mov.u32 %r1, %q;", constant(2)},
		{tid + "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), square, (a); ld.param.b32 %r1, [b]; }", func(i int) uint64 { return uint64(i * i) }},
		{tid + "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), early, (a); ld.param.b32 %r1, [b]; }", func(i int) uint64 { return uint64(1 + i/16) }},
		{tid + "and.b32 %r3, %r2, 3; T: .branchtargets A, B, C, B; brx.idx %r3, T; A: mov.u32 %r1, 10; bra E; B: mov.u32 %r1, 11; bra E; C: mov.u32 %r1, 12; E:",
			func(i int) uint64 { return []uint64{10, 11, 12, 11}[i%4] }},
		{own + "mov.u32 %r2, 0x3c003c00; st.global.v2.u32 [%d4], {%r2, %r3}; atom.global.add.noftz.v2.f16x2 {%r4, %r5}, [%d4], {%r2, %r2}; ld.global.u32 %r1, [%d4];", constant(0x40004000)},
		{own + "st.global.v2.u32 [%d4], {%r3, 0}; atom.global.add.v2.f32 {%f1, %f2}, [%d4], {0f3F800000, 0f40000000}; mov.b32 %r1, %f1;", func(i int) uint64 { return uint64(i) }},
		{own + "st.global.v2.u32 [%d4], {%r3, 0}; red.global.add.v2.f32 [%d4], {0f3F800000, 0f40000000}; ld.global.u32 %r1, [%d4+4];", constant(f32(2))},
		// A loop whose lanes leave one by one, with a divergent branch inside.
		{tid + "mov.u32 %r1, 0; mov.u32 %r3, 0; L: and.b32 %r4, %r3, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra M; add.s32 %r1, %r1, 10; bra N; M: add.s32 %r1, %r1, 1; N: add.s32 %r3, %r3, 1; setp.le.u32 %p2, %r3, %r2; @%p2 bra L;",
			func(i int) uint64 { n := i + 1; return uint64((n+1)/2 + n/2*10) }},
		{"mov.u32 %r1, 0; mov.b64 %d4, frame; isspacep.shared %p1, %d4; @%p1 mov.u32 %r1, 1;", constant(0)},
	}, false)
}

func TestUnknownInstructionIsNamed(t *testing.T) {
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		text, want string
		lacks      bool // a GPU may execute it
	}{
		{"frobnicate.u32 %r1, %r1;", "kernel.ptx:6:2: the simulator does not know the instruction frobnicate.u32", true},
		{"add.frob.u32 %r1, %r1, %r1;", "does not know the instruction add.frob.u32", true},
		{"tex.2d.v4.f32.f32 {%r1}, [t, {%r1}];", "does not know the instruction tex.2d.v4.f32.f32", true},
		{"mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};", "does not know the instruction mma", true},
		{"mov.b64 %d1, again;", "mov.b64: the simulator does not know addresses of functions (again)", true},
		{"{ .param .b64 p; call %d1, (p), proto; }", "cannot call %d1", true},
		{"call missing, (%r1);", "cannot call missing", true},
		{"{ .param .b32 p; call again, (p); }", "does not know recursion (again)", true},
		{"add.u32 %r1, %r1;", "takes 3 operands, here are 2", false},
		{"add.u32 %r1, %r1, %q9;", `"%q9" is not a register`, false},
		{"add.u64 %r1, %r1, %r1;", "register %r1 is .b32, which does not fit", false},
		{"bra NOWHERE;", `there is no label "NOWHERE"`, false},
		{"ld.global.u32 %r1, [nothing];", `there is no variable "nothing"`, false},
	} {
		m, err := d.Load([]byte(header + ".func again(.param .b32 p) { call again, (p); ret; }\n.visible .entry kernel() { .reg .b32 %r<4>; .reg .b64 %d<2>;\n\t" + x.text + "\n}"))
		if err != nil {
			t.Errorf("%s: %v", x.text, err)
			continue
		}
		_, err = m.Function("kernel")
		if _, lacks := unavailable.As(err); err == nil || !strings.Contains(err.Error(), x.want) || lacks != x.lacks {
			t.Errorf("%s: error %v, want %q", x.text, err, x.want)
		}
	}
}

// TestVirtualFunctions: a table of addresses of functions is nothing that is wrong.
func TestVirtualFunctions(t *testing.T) {
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Load([]byte(header + ".func f() { ret; }\n.global .u64 table[2] = {0, f};\n.visible .entry k() { ret; }"))
	if u, lacks := unavailable.As(err); !lacks || !strings.Contains(u.Reason, "initial value of table") {
		t.Errorf("error %v", err)
	}
}

func TestMatrixInstructions(t *testing.T) {
	// A[i][k] = i + k, B[k][j] = 2 if k == j, in f16: D = C + 2A in the first 8 columns.
	half := func(x string) string { return fmt.Sprintf("cvt.rn.f32.u32 %%f9, %s; cvt.rn.f16.f32 %%h1, %%f9;", x) }
	var b strings.Builder
	b.WriteString("mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 2; and.b32 %r4, %r2, 3; shl.b32 %r4, %r4, 1;\n")
	for r := range 4 { // A: rows g, g+8; columns 2t, 2t+8
		for i := range 2 {
			fmt.Fprintf(&b, "add.u32 %%r5, %%r3, %%r4; add.u32 %%r5, %%r5, %d; %s mov.b16 %%h%d, %%h1;\n", 8*(r%2)+8*(r/2)+i, half("%r5"), 2+i)
		}
		fmt.Fprintf(&b, "mov.b32 %%r%d, {%%h2, %%h3};\n", 10+r)
	}
	for r := range 2 { // B: column g, rows 2t, 2t+8
		for i := range 2 {
			fmt.Fprintf(&b, "add.u32 %%r5, %%r4, %d; setp.eq.u32 %%p1, %%r5, %%r3; selp.u32 %%r5, 2, 0, %%p1; %s mov.b16 %%h%d, %%h1;\n", 8*r+i, half("%r5"), 2+i)
		}
		fmt.Fprintf(&b, "mov.b32 %%r%d, {%%h2, %%h3};\n", 14+r)
	}
	b.WriteString("mov.f32 %f1, 0f3F800000;\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f1,%f1,%f1,%f1};\n")
	for i := range 4 {
		check(t, []snippet{{b.String() + fmt.Sprintf("mov.b32 %%r1, %%f%d;", 2+i), func(lane int) uint64 {
			row, col := lane/4+8*(i/2), lane%4*2+i%2
			return f32(float32(1 + 2*(row+col)))
		}}}, false)
	}
	// ldmatrix of rows that hold 16·row + column, as is and transposed.
	load := `mov.u32 %r2, %tid.x; mov.u64 %d3, dyn; and.b32 %r3, %r2, 7; mul.wide.u32 %d2, %r3, 16; add.s64 %d4, %d3, %d2;
setp.lt.u32 %p1, %r2, 8; @!%p1 bra S; mov.u32 %r4, 0;
L: shl.b32 %r5, %r3, 4; add.u32 %r5, %r5, %r4; cvt.u16.u32 %h1, %r5; mul.wide.u32 %d5, %r4, 2; add.s64 %d5, %d5, %d4; st.shared.u16 [%d5], %h1;
add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 8; @%p2 bra L;
S: bar.sync 0; `
	check(t, []snippet{
		{load + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%d4];", func(i int) uint64 {
			v := uint64(16*(i/4) + i%4*2)
			return v | (v+1)<<16
		}},
		{load + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%d4];", func(i int) uint64 {
			v := uint64(16*(i%4*2) + i/4)
			return v | (v+16)<<16
		}},
	}, false)
}
