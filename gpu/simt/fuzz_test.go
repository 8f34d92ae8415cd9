package simt_test

import (
	"os"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/simt/ptx"
	"mage/kernels/triton"
)

// FuzzExecute checks that whatever loads also runs: to its end, or to an error,
// without panicking and without hanging.
func FuzzExecute(f *testing.F) {
	for _, d := range defects() {
		f.Add([]byte(header + prologue + d.wrong + "\nret;\n}"))
	}
	for _, k := range builtin(f) {
		if k.PTX != nil {
			f.Add(k.PTX.Image)
		}
	}
	features, err := os.ReadFile("testdata/features.ptx")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(features)
	index, err := triton.Compiled()
	if err != nil {
		f.Fatal(err)
	}
	for _, k := range index.Kernels {
		text, err := triton.PTX(k)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	// Instructions that wait, print and reach across lanes, a line each.
	for _, s := range []string{
		"mbarrier.init.shared.b64 [dyn], 3; mbarrier.arrive.shared.b64 %d9, [dyn], 2; W: mbarrier.try_wait.shared.b64 %p1, [dyn], %d9; @!%p1 bra W;",
		"mbarrier.init.shared.b64 [dyn], 40; mbarrier.arrive.expect_tx.shared.b64 _, [dyn], 8; mbarrier.complete_tx.shared.b64 [dyn], 8; cp.async.mbarrier.arrive.shared.b64 [dyn];",
		"atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%d2], {%f1, %f2, %f3, %f4}; red.global.add.noftz.v2.bf16x2 [%d2], {%r5, %r6};",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5,%r6}, [dyn];",
		"bmsk.clamp.b32 %r5, %r1, 40; szext.wrap.s32 %r6, %r5, %r1; fns.b32 %r7, %r5, %r1, -3; cvt.pack.sat.u8.s32.b32 %r8, %r5, %r6, %r7; lop3.b32 %r9, %r1, %r2, %r3, 0xe8;",
		"shfl.sync.bfly.b32 %r5|%p1, %r1, %r2, %r3, -1; match.any.sync.b32 %r6, %r5, -1; redux.sync.max.s32 %r7, %r6, -1; bar.red.popc.u32 %r8, 1, 64, %p1;",
	} {
		f.Add([]byte(header + prologue + s + "\nret;\n}"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tree, err := ptx.Parse("fuzz.ptx", src)
		if err != nil {
			return
		}
		d, err := simt.Open(simt.Options{Workers: 1, MemoryBytes: 1 << 20, MaxBlockInstructions: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load(src)
		if err != nil {
			return
		}
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Alloc(4096)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tree.Functions {
			fn, err := m.Function(e.Name)
			if err != nil {
				continue
			}
			var args []gpu.Arg
			for _, v := range e.Params {
				args = append(args, gpu.Arg{Bits: uint64(p), Size: uint8(ptx.SizeOf(v.Type))})
			}
			l, err := fn.Bind(gpu.Config{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{40, 1, 1}, DynamicShared: 1024}, args...)
			if err != nil {
				continue
			}
			if err := l.Submit(s); err != nil {
				t.Fatal(err)
			}
			_ = s.Synchronize() // findings and errors are expected
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
