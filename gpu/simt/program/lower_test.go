package program

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/gpu/simt/ptx"
)

// FuzzLower checks that no module that parses makes lowering panic or hang.
func FuzzLower(f *testing.F) {
	err := filepath.WalkDir("../../../kernels", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".ptx") {
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f.Add(src)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r1,%r2,%r3,%r1}, {%r1,%r2}, {%f1,%f1,%f1,%f1};",
		"T: .branchtargets A, A; brx.idx %r1, T; A: cp.async.ca.shared.global [%d1], [%d1], 4, %r1;",
		"{ .param .b32 a; call (a), g, (a); } shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1; atom.global.cas.b64 %d1, [%d1+8], 1, 2;",
		"lop3.b32 %r1, %r1, %r1, %r1, 0x96; cvt.rn.f16x2.f32 %r1, %f1, %f1; bar.red.popc.u32 %r1, 0, 64, %p1;",
	} {
		f.Add([]byte(".version 8.0\n.target sm_90\n.func (.param .b32 r) g(.param .b32 x) { ret; }\n.entry k(.param .u64 p) { .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .f32 %f<8>;\n" + s + "\nret; }"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ptx.Parse("fuzz.ptx", src)
		if err != nil {
			return
		}
		for _, g := range m.Functions {
			if !g.Entry {
				continue
			}
			p, err := Lower(Symbols{Module: m, Address: map[string]uint64{}}, g.Name)
			if err != nil {
				continue
			}
			for i, in := range p.Code {
				if in.Kind == Branch && (in.Join < 0 || int(in.Join) > len(p.Code)) {
					t.Fatalf("instruction %d joins at %d of %d", i, in.Join, len(p.Code))
				}
			}
		}
	})
}

// joinOf returns, by label order, where the branches of a body meet.
func joinOf(t *testing.T, body string) (*Program, []int32) {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(".version 8.0\n.target sm_90\n.entry k() { .reg .pred %p; .reg .b32 %r<3>;\n"+body+"\n}"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Lower(Symbols{Module: m}, "k")
	if err != nil {
		t.Fatal(err)
	}
	var joins []int32
	for _, in := range p.Code {
		if in.Kind == Branch {
			joins = append(joins, in.Join)
		}
	}
	return p, joins
}

func TestJoins(t *testing.T) {
	for _, x := range []struct {
		name, body string
		want       []int32
	}{
		{"if", "@%p bra A; mov.u32 %r1, 1; A: ret;", []int32{2}},
		{"if and else", "@%p bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: ret;", []int32{4, 4}},
		{"loop", "A: mov.u32 %r1, 1; @%p bra A; ret;", []int32{2}},
		{"loop with an exit in its middle", "A: @%p bra B; mov.u32 %r1, 1; bra A; B: ret;", []int32{3, 0}},
		{"both ways end", "@%p bra A; ret; A: ret;", []int32{4}},
		{"a return on one way", "@%p bra A; @%p ret; A: mov.u32 %r1, 1; ret;", []int32{1}},
		{"an early return", "@%p bra R; bar.sync 0; R: ret;", []int32{1}},
		{"an early return within", "@%p bra A; @%p bra R; mov.u32 %r1, 1; A: bar.sync 0; R: ret;", []int32{3, 2}},
		{"a trap within", "@%p bra A; @%p bra B; trap; B: mov.u32 %r1, 1; A: bar.sync 0; ret;", []int32{4, 3}},
		{"a return out of a loop", "L: @%p bra R; bar.sync 0; bra L; R: ret;", []int32{3, 0}},
		{"a return out of a loop that ends", "L: @%p bra R; bar.sync 0; @%p bra L; bar.sync 0; R: ret;", []int32{1, 3}},
		{"endless", "A: bra A;", []int32{2}},
	} {
		p, got := joinOf(t, x.body)
		if len(got) != len(x.want) {
			t.Fatalf("%s: %d branches", x.name, len(got))
		}
		for i := range got {
			if got[i] != x.want[i] {
				t.Errorf("%s: branch %d joins at %d, want %d of %d", x.name, i, got[i], x.want[i], len(p.Code))
			}
		}
	}
}
