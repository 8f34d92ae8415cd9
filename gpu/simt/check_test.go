package simt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/simt/exec"
	"mage/gpu/verdict"
)

// defect is a small kernel that is wrong, and the same kernel put right. Both get
// a pointer to 64 words that hold their index, one to 64 words that nobody wrote,
// and run as two blocks of 64 threads with 1 KiB of dynamic shared memory.
type defect struct {
	name          string
	kind          verdict.Kind
	wrong, right  string
	detail        string // part of the finding's text
	line          int    // of the body that the finding names, from 1
	grid          int
	filled        bool // the second pointer is to zeros
	hangs         bool // the wrong kernel cannot end
	thread, block [3]uint32
}

const prologue = `.const .u32 table[4] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<8>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %d3, %r1, 4; mul.wide.u32 %d4, %r4, 4;
mov.u64 %d5, dyn; add.s64 %d5, %d5, %d3; add.s64 %d6, %d1, %d3; add.s64 %d7, %d2, %d4;
`

// mbarrierStart makes an mbarrier of 64 arrivals at dyn, and in %d8 the address that
// the thread of the other warp has in %d5.
const mbarrierStart = "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [dyn], 64; bar.sync 0; xor.b32 %r5, %r1, 32; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8; "

// bodyLine is the line of the file that the body begins at.
var bodyLine = strings.Count(header+prologue, "\n") + 1

func defects() []defect {
	return []defect{
		{name: "read past the end", kind: verdict.OutOfBounds, line: 1, thread: [3]uint32{63, 0, 0},
			detail: "0 bytes past the end of an allocation of 256 bytes",
			wrong:  "ld.global.u32 %r5, [%d6+4];", right: "ld.global.u32 %r5, [%d6];"},
		{name: "write before the start", kind: verdict.OutOfBounds, line: 1, detail: "4 bytes before the start", grid: 1,
			wrong: "st.global.u32 [%d7+-4], %r1;", right: "st.global.u32 [%d7], %r1;"},
		{name: "null pointer", kind: verdict.OutOfBounds, line: 2, detail: "a null pointer",
			wrong: "mov.u64 %d9, 0;\nld.global.u32 %r5, [%d9];", right: "mov.u64 %d9, %d1;\nld.global.u32 %r5, [%d9];"},
		{name: "shared memory before the start", kind: verdict.OutOfBounds, line: 1, detail: "4 bytes before the start of the block's shared memory (1024 bytes)",
			wrong: "st.shared.u32 [%d5+-4], %r1;", right: "st.shared.u32 [%d5], %r1;", grid: 1},
		{name: "local memory past the end", kind: verdict.OutOfBounds, line: 1, detail: "4 bytes past the end of the thread's local memory (8 bytes)",
			wrong: "{ .local .u64 l; mov.u64 %d8, l; st.local.u32 [%d8+12], %r1; }", right: "{ .local .u64 l; mov.u64 %d8, l; st.local.u32 [%d8+4], %r1; }"},
		{name: "shared memory past the end", kind: verdict.OutOfBounds, line: 1, detail: "0 bytes past the end of the block's shared memory (1024 bytes)",
			wrong: "st.shared.u32 [%d5+960], %r1;", right: "st.shared.u32 [%d5+768], %r1;", thread: [3]uint32{16, 0, 0}},
		{name: "misaligned vector", kind: verdict.Misaligned, line: 1, detail: "not a multiple of 8", thread: [3]uint32{1, 0, 0},
			wrong: "ld.global.v2.u32 {%r5, %r6}, [%d6];",
			right: "shr.u32 %r7, %r1, 1; mul.wide.u32 %d8, %r7, 8; add.s64 %d8, %d1, %d8;\nld.global.v2.u32 {%r5, %r6}, [%d8];"},
		{name: "shared memory that nobody wrote", kind: verdict.UnwrittenShared, line: 2, detail: "nothing has written",
			wrong: "bar.sync 0;\nld.shared.u32 %r5, [%d5];", right: "st.shared.u32 [%d5], %r1; bar.sync 0;\nld.shared.u32 %r5, [%d5];"},
		{name: "global memory that nobody wrote", kind: verdict.UnwrittenGlobal, line: 1, detail: "nothing has written",
			wrong: "ld.global.u32 %r5, [%d7];", right: "st.global.u32 [%d7], %r1;\nld.global.u32 %r5, [%d7];", grid: 1},
		{name: "no barrier between write and read", kind: verdict.SharedRace, line: 4, detail: "read after write: thread (1,0,0) wrote it", grid: 1,
			wrong: "xor.b32 %r5, %r1, 1; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8;\nst.shared.u32 [%d5], %r1;\n\nld.shared.u32 %r6, [%d8];",
			right: "xor.b32 %r5, %r1, 1; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8;\nst.shared.u32 [%d5], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%d8];"},
		{name: "a barrier of the warp only", kind: verdict.SharedRace, line: 4, detail: "read after write", grid: 1,
			wrong: "st.shared.u32 [%d5], 99; bar.sync 0; sub.s32 %r5, 63, %r1; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8;\nst.shared.u32 [%d5], %r1;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r6, [%d8];",
			right: "st.shared.u32 [%d5], 99; bar.sync 0; xor.b32 %r5, %r1, 1; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8;\nst.shared.u32 [%d5], %r1;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r6, [%d8];"},
		{name: "a buffer overwritten while it is read", kind: verdict.SharedRace, line: 5, detail: "write after read", grid: 1,
			wrong: "st.shared.u32 [%d5], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [dyn];\n\nst.shared.u32 [%d5], %r3;",
			right: "st.shared.u32 [%d5], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [dyn];\nbar.sync 0;\nst.shared.u32 [%d5], %r3;"},
		{name: "two threads write one word", kind: verdict.SharedRace, line: 1, detail: "write after write", grid: 1,
			wrong: "st.shared.u32 [dyn], %r1;", right: "st.shared.u32 [dyn], %r3;", thread: [3]uint32{1, 0, 0}},
		{name: "a sum without atomics", kind: verdict.SharedRace, line: 3, detail: "race in shared memory", grid: 1,
			wrong: "st.shared.u32 [dyn], 0; bar.sync 0;\n\nld.shared.u32 %r5, [dyn]; add.s32 %r5, %r5, %r1; st.shared.u32 [dyn], %r5;",
			right: "st.shared.u32 [dyn], 0; bar.sync 0;\n\nred.shared.add.u32 [dyn], %r1;"},
		{name: "blocks write one word", kind: verdict.GlobalRace, line: 1, detail: "write after write",
			wrong: "st.global.u32 [%d2], %r4;", right: "atom.global.exch.b32 %r5, [%d2], %r4;"},
		{name: "a block reads what another writes", kind: verdict.GlobalRace, line: 3, detail: "read after write: block (0,0,0) wrote it", filled: true, block: [3]uint32{1, 0, 0},
			wrong: "mad.lo.s32 %r5, %r2, -64, 64; add.s32 %r5, %r5, %r1; mul.wide.s32 %d8, %r5, 4; add.s64 %d8, %d2, %d8;\nst.global.u32 [%d7], %r1;\nld.global.u32 %r6, [%d8];",
			right: "mad.lo.s32 %r5, %r2, -64, 64; add.s32 %r5, %r5, %r1; mul.wide.s32 %d8, %r5, 4; add.s64 %d8, %d2, %d8;\nst.global.u32 [%d7], %r1;\nld.global.u32 %r6, [%d7];"},
		{name: "a barrier that half a warp reaches", kind: verdict.DivergentBarrier, line: 3, detail: "divergent barrier: lanes 0xffff of the warp", hangs: true,
			wrong: "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra DONE;\nbar.sync 0;\nDONE: bar.sync 0;",
			right: "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra DONE;\nadd.s32 %r5, %r1, 1;\nDONE: bar.sync 0;"},
		{name: "a copy that is not waited for", kind: verdict.MissingWait, line: 3, detail: "before the cp.async",
			wrong: "cp.async.ca.shared.global [%d5], [%d6], 4; cp.async.commit_group;\n\nld.shared.u32 %r5, [%d5];",
			right: "cp.async.ca.shared.global [%d5], [%d6], 4; cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r5, [%d5];"},
		{name: "a copy of which the wrong group is waited for", kind: verdict.MissingWait, line: 3, detail: "before the cp.async",
			wrong: "cp.async.ca.shared.global [%d5], [%d6], 4; cp.async.commit_group; cp.async.ca.shared.global [%d5+256], [%d6], 4; cp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r5, [%d5+256];",
			right: "cp.async.ca.shared.global [%d5], [%d6], 4; cp.async.commit_group; cp.async.ca.shared.global [%d5+256], [%d6], 4; cp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r5, [%d5];"},
		{name: "a copy waited for by its own thread only", kind: verdict.SharedRace, line: 4, detail: "read after write", grid: 1,
			wrong: "st.shared.u32 [%d5], 99; bar.sync 0; cp.async.ca.shared.global [%d5], [%d6], 4; cp.async.wait_all;\nxor.b32 %r5, %r1, 32; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8;\nbar.warp.sync -1;\nld.shared.u32 %r6, [%d8];",
			right: "st.shared.u32 [%d5], 99; bar.sync 0; cp.async.ca.shared.global [%d5], [%d6], 4; cp.async.wait_all;\nxor.b32 %r5, %r1, 32; mul.wide.u32 %d8, %r5, 4; mov.u64 %d9, dyn; add.s64 %d8, %d9, %d8;\nbar.sync 0;\nld.shared.u32 %r6, [%d8];"},
		{name: "a shuffle with a lane that is elsewhere", kind: verdict.InvalidLanes, line: 2, detail: "member mask",
			wrong: "setp.lt.u32 %p1, %r1, 16;\n@%p1 shfl.sync.idx.b32 %r5, %r1, 0, 31, 0xffffffff;",
			right: "setp.lt.u32 %p1, %r1, 16;\n@%p1 shfl.sync.idx.b32 %r5, %r1, 0, 31, 0x0000ffff;"},
		{name: "a barrier for more warps than there are", kind: verdict.Deadlock, line: 2, detail: "warp 0 (lanes 0xffffffff) waits for barrier 1", hangs: true,
			wrong: "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;", right: "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 32;"},
		{name: "an mbarrier that is not waited for", kind: verdict.SharedRace, line: 4, detail: "read after write", grid: 1,
			wrong: mbarrierStart + "st.shared.u32 [%d5+64], 99; bar.sync 0; st.shared.u32 [%d5+64], %r1;\nmbarrier.arrive.shared.b64 %d10, [dyn];\n\nld.shared.u32 %r6, [%d8+64];",
			right: mbarrierStart + "st.shared.u32 [%d5+64], 99; bar.sync 0; st.shared.u32 [%d5+64], %r1;\nmbarrier.arrive.shared.b64 %d10, [dyn];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [dyn], 0; @!%p2 bra W;\nld.shared.u32 %r6, [%d8+64];"},
		{name: "a copy that an mbarrier does not announce", kind: verdict.SharedRace, line: 4, detail: "read after write", grid: 1,
			wrong: mbarrierStart + "st.shared.u32 [%d5+64], 99; bar.sync 0; cp.async.ca.shared.global [%d5+64], [%d6], 4; cp.async.wait_all;\n\n\nld.shared.u32 %r6, [%d8+64];",
			right: mbarrierStart + "st.shared.u32 [%d5+64], 99; bar.sync 0; cp.async.ca.shared.global [%d5+64], [%d6], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [dyn];\nW: mbarrier.test_wait.parity.shared.b64 %p2, [dyn], 0; @!%p2 bra W;\nld.shared.u32 %r6, [%d8+64];"},
		{name: "an mbarrier that expects one more", kind: verdict.Deadlock, line: 2, detail: "lacks 1 arrivals and 0 bytes", hangs: true, grid: 1,
			wrong: mbarrierStart + "mov.u32 %r5, 65; @%p1 mbarrier.init.shared.b64 [dyn], %r5; bar.sync 0; mbarrier.arrive.shared.b64 %d10, [dyn];\nW: mbarrier.test_wait.shared.b64 %p2, [dyn], %d10; @!%p2 bra W;",
			right: mbarrierStart + "mbarrier.arrive.shared.b64 %d10, [dyn];\nW: mbarrier.test_wait.shared.b64 %p2, [dyn], %d10; @!%p2 bra W;"},
		{name: "constant memory is written", kind: verdict.WriteToConstant, line: 2, detail: "variable table",
			wrong: "mov.u64 %d9, table;\nst.global.u32 [%d9], %r1;", right: "mov.u64 %d9, table;\nld.const.u32 %r5, [%d9];"},
	}
}

func (d defect) run(t *testing.T, body string) ([]simt.Finding, error) {
	t.Helper()
	r := newRig(t, simt.Options{Workers: 1}, prologue+body+"\nret;\n}")
	index := make([]uint32, 64)
	for i := range index {
		index[i] = uint32(i)
	}
	grid := 2
	if d.grid > 0 {
		grid = d.grid
	}
	out := r.alloc(128)
	if d.filled {
		if err := r.device.Fill(out, 0, 512); err != nil {
			t.Fatal(err)
		}
	}
	err := r.run(grid, 64, 1024, gpu.Pointer(r.words(index...)), gpu.Pointer(out))
	return r.device.Findings(), err
}

func TestChecksReportDefectsAndNothingElse(t *testing.T) {
	for _, d := range defects() {
		t.Run(d.name, func(t *testing.T) {
			found, err := d.run(t, d.wrong)
			var check *simt.CheckError
			var stopped *exec.Error
			if d.hangs && !errors.As(err, &stopped) || !d.hangs && !errors.As(err, &check) {
				t.Fatalf("the wrong kernel: error %v", err)
			}
			i := slices.IndexFunc(found, func(f simt.Finding) bool { return f.Kind == d.kind && strings.Contains(f.Detail, d.detail) })
			if i < 0 {
				t.Fatalf("no %s with %q in %v", d.kind, d.detail, found)
			}
			f := found[i]
			if f.Kernel != "k" || f.File != "k.ptx" || f.Line != bodyLine+d.line-1 {
				t.Errorf("at %s %s:%d, want line %d", f.Kernel, f.File, f.Line, bodyLine+d.line-1)
			}
			if d.thread != ([3]uint32{}) && f.Thread != d.thread {
				t.Errorf("thread %v, want %v", f.Thread, d.thread)
			}
			if report := f.Report(); !strings.HasPrefix(report, "========= ") || !strings.Contains(report, fmt.Sprintf("k.ptx:%d", f.Line)) {
				t.Errorf("report %q", report)
			}
			if d.block != ([3]uint32{}) && f.Block != d.block {
				t.Errorf("block %v, want %v", f.Block, d.block)
			}
			for _, f := range found {
				if f.Kind != d.kind && !(d.hangs && f.Kind == verdict.Deadlock) {
					t.Errorf("also found: %v", f)
				}
			}
			if found, err := d.run(t, d.right); err != nil || len(found) > 0 {
				t.Errorf("the right kernel: %v, %v", err, found)
			}
		})
	}
}
