package ptx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// committed returns every PTX file of the repository.
func committed(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != "." {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".ptx" {
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] = src
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestParsesEveryCommittedFile(t *testing.T) {
	files := committed(t)
	if len(files) < 6 {
		t.Fatalf("only %d PTX files found", len(files))
	}
	for path, src := range files {
		m, err := Parse(path, src)
		if err != nil {
			t.Error(err)
			continue
		}
		if want, got := strings.Count(string(src), ".entry"), entries(m); got != want {
			t.Errorf("%s: %d entries, want %d", path, got, want)
		}
	}
}

func entries(m *Module) int {
	n := 0
	for _, f := range m.Functions {
		if f.Entry {
			n++
		}
	}
	return n
}

const header = ".version 8.0\n.target sm_90\n.address_size 64\n"

func body(t *testing.T, text string) *Block {
	t.Helper()
	m, err := Parse("t.ptx", []byte(header+".visible .entry k(.param .u64 p) {\n"+text+"\n}"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Functions[0].Body
}

func TestInstruction(t *testing.T) {
	b := body(t, "@!%p1 ld.global.L2::128B.v2.f32 {%f1, %f2}, [%rd1+-16];")
	i := b.Statements[0].(*Instruction)
	if i.Guard != "%p1" || !i.Negated || i.Name() != "ld.global.L2::128B.v2.f32" {
		t.Errorf("%+v", i)
	}
	if i.Pos.Line != 5 || i.Pos.Col != 7 || i.Pos.File != "t.ptx" {
		t.Errorf("position %v", i.Pos)
	}
	v, a := i.Operands[0], i.Operands[1]
	if v.Kind != Vector || len(v.List) != 2 || v.List[1].Name != "%f2" {
		t.Errorf("vector %+v", v)
	}
	if a.Kind != Address || a.Name != "%rd1" || a.Offset != -16 {
		t.Errorf("address %+v", a)
	}
}

func TestLiterals(t *testing.T) {
	for text, want := range map[string]Operand{
		"12":                 {Kind: Integer, Bits: 12},
		"-1":                 {Kind: Integer, Bits: ^uint64(0)},
		"0x1FU":              {Kind: Integer, Bits: 31},
		"0b101":              {Kind: Integer, Bits: 5},
		"017":                {Kind: Integer, Bits: 15},
		"0f3F800000":         {Kind: Float, Single: true, Bits: 0x3f800000},
		"-0f3F800000":        {Kind: Float, Single: true, Bits: 0xbf800000},
		"0d3FF0000000000000": {Kind: Float, Bits: 0x3ff0000000000000},
		"1.5e-1":             {Kind: Float, Bits: 0x3fc3333333333333},
		"%tid.x":             {Kind: Name, Name: "%tid", Member: "x"},
		"buffer+8":           {Kind: Name, Name: "buffer", Offset: 8},
		"!%p":                {Kind: Name, Name: "%p", Negated: true},
	} {
		got := body(t, "mov.b64 %a, "+text+";").Statements[0].(*Instruction).Operands[1]
		got.Pos = Pos{}
		if got.Kind != want.Kind || got.Name != want.Name || got.Member != want.Member || got.Bits != want.Bits ||
			got.Single != want.Single || got.Offset != want.Offset || got.Negated != want.Negated {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestCallAndScopes(t *testing.T) {
	b := body(t, `{ .reg .b32 %t<3>;
	  .param .align 8 .b8 q[16];
	  call.uni (r), f, (a, b);
	}
	L1: setp.lt.s32 %p|%q, %a, 3;
	T: .branchtargets L1, L1;`)
	inner := b.Statements[0].(*Block)
	if v := inner.Statements[0].(*Variable); v.Count != 3 || v.Space != "reg" {
		t.Errorf("%+v", v)
	}
	if v := inner.Statements[1].(*Variable); v.Align != 8 || len(v.Dims) != 1 || v.Dims[0] != 16 {
		t.Errorf("%+v", v)
	}
	call := inner.Statements[2].(*Instruction)
	if len(call.Operands) != 3 || call.Operands[0].Kind != List || len(call.Operands[2].List) != 2 {
		t.Errorf("%+v", call)
	}
	if l := b.Statements[1].(*Label); l.Name != "L1" {
		t.Errorf("%+v", l)
	}
	if p := b.Statements[2].(*Instruction).Operands[0]; p.Kind != Pair || p.List[1].Name != "%q" {
		t.Errorf("%+v", p)
	}
	if d := b.Statements[3].(*Directive); d.Label != "T" || d.Name != "branchtargets" || len(d.Words) != 3 {
		t.Errorf("%+v", d)
	}
}

func TestModuleScope(t *testing.T) {
	m, err := Parse("t.ptx", []byte(header+`
.file 1 "kernel.cu", 123, 4
.extern .shared .align 16 .b8 dyn[];
.const .align 4 .f32 table[2][2] = {{0f00000000, 1.0}, {2.0, 3.0}};
.global .u64 where = generic(table)+8;
.func (.param .b32 r) f(.param .b32 a, .param .u64 .ptr .global .align 16 p) .noreturn ;
.weak .entry k(.param .align 8 .b8 s[24]) .maxntid 128, 2 .minnctapersm 2 .reqntid 64 {
 .loc 1 7 3, function_name L, inlined_at 1 2 3
 ret; }
.section .debug_str { L: .b8 1,2 { } }
`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Files[1] != "kernel.cu" || len(m.Variables) != 3 || len(m.Functions) != 2 {
		t.Fatalf("%+v", m)
	}
	if v := m.Variables[0]; v.Linkage != Extern || v.Dims[0] != -1 || v.Align != 16 {
		t.Errorf("%+v", v)
	}
	if v := m.Variables[1]; len(v.Init.List) != 2 || len(v.Init.List[1].List) != 2 {
		t.Errorf("%+v", v)
	}
	if v := m.Variables[2].Init.Value; !v.Generic || v.Name != "table" || v.Offset != 8 {
		t.Errorf("%+v", v)
	}
	if f := m.Functions[0]; f.Body != nil || len(f.Params) != 2 || f.Params[1].Align != 0 {
		t.Errorf("%+v", f)
	}
	k := m.Functions[1]
	if *k.MaxThreads != [3]uint32{128, 2, 1} || *k.RequiredThreads != [3]uint32{64, 1, 1} {
		t.Errorf("%+v", k)
	}
	if s := k.Body.Statements[0].(*Instruction).Source; s != (Source{1, 7}) {
		t.Errorf("source %v", s)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "t.ptx:1:1: there is no .version",
		"hello":                              `t.ptx:1:1: expected a directive, found "hello"`,
		header + ".entry k() { add.u32 %a":   `t.ptx:4:24: expected ";"`,
		header + ".entry k() {":              "t.ptx:4:12: a block is not closed",
		header + ".entry k() .frob {}":       "unknown directive .frob",
		header + ".frob .u32 x;":             "unknown directive .frob",
		header + ".global .u7 x;":            "unknown type .u7",
		header + "/* ":                       "a comment is not closed",
		header + ".entry k() { mov %a, 0f1;": "eight hexadecimal digits",
		header + "\xff":                      "unexpected byte 0xff",
	} {
		_, err := Parse("t.ptx", []byte(text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range committed(f) {
		f.Add(src)
	}
	f.Add([]byte(header + ".func (.param .b32 r) f(.param .b32 a[4]) { L: @!%p bra L; {call (r), f, (a);} ret; }"))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Parse("fuzz.ptx", src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos.Line < 1 || e.Pos.Col < 1 {
				t.Fatalf("error %v has no position", err)
			}
			return
		}
		if m == nil {
			t.Fatal("no module and no error")
		}
	})
}
