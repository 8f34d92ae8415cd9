package conform

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mage/gpu/simt/program"
)

var update = flag.Bool("update", false, "write sm_90.txt with the ptxas that MAGE_PTXAS names")

// patterns returns the names of every instruction that might exist: each opcode
// that the simulator computes with, with each combination of what any instruction
// of its kind may ask for. Most of them are no PTX.
func patterns() []string {
	const (
		all   = "{u8,s8,b8,u16,s16,b16,u32,s32,b32,u64,s64,b64,f16,bf16,f16x2,bf16x2,f32,f32x2,f64,u16x2,s16x2,tf32}"
		round = "{,.rn,.rz,.rm,.rp,.approx,.full}"
		test  = "{eq,ne,lt,le,gt,ge,lo,ls,hi,hs,equ,neu,ltu,leu,gtu,geu,num,nan}"
	)
	return []string{
		"{add,sub,mul,mad,fma,div,rem,sqrt,rcp}" + round + "{,.ftz}{,.sat}{,.relu}." + all,
		"{mul,mad,mul24,mad24}.{lo,hi,wide}{,.sat}." + all,
		"{min,max,abs,neg}{,.ftz}{,.NaN}{,.xorsign.abs}{,.relu}." + all,
		"{ex2,lg2,sin,cos,tanh,rsqrt}{,.approx}{,.ftz}." + all,
		"{copysign,sad,popc,clz,bfind,bfind.shiftamt,brev,cnot,bfe,bfi,and,or,xor,not,shl,shr,selp}." + all,
		"testp.{finite,infinite,number,notanumber,normal,subnormal}." + all,
		"setp." + test + "{,.and,.or,.xor}{,.ftz}." + all,
		"set." + test + "{,.and,.or,.xor}{,.ftz}." + all + "." + all,
		"slct{,.ftz}." + all + ".{s32,f32}",
		"shf.{l,r}.{clamp,wrap}.b32", "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}",
		"dp4a.{u32,s32}.{u32,s32}", "dp2a.{lo,hi}.{u32,s32}.{u32,s32}", "lop3.b32 {0,0x96,0xe8,0xca}",
		"bmsk.{clamp,wrap}.b32", "szext.{clamp,wrap}.{u32,s32}", "fns.b32", "cvt.pack.sat.{u8,s8,u16,s16,b16}.{s32,u32}{,.b32}",
		"cvt{,.rn,.rz,.rm,.rp,.rna,.rni,.rzi,.rmi,.rpi}{,.relu}{,.ftz}{,.sat}{,.satfinite}." + all + "." + all,
		"cvt{,.rn,.rz,.rna}{,.relu}{,.ftz}{,.sat}{,.satfinite}.{e4m3x2,e5m2x2}." + all,
		"cvt{,.rn,.rz,.rna}{,.relu}{,.ftz}{,.sat}{,.satfinite}." + all + ".{e4m3x2,e5m2x2}",
	}
}

// undocumented is what ptxas accepts and the manual does not know: directed rounding
// of bf16, and flushing of float64.
var undocumented = regexp.MustCompile(`^fma\.r[zmp]\.(relu\.)?bf16|^rcp\.r[nzmp]\.ftz\.f64`)

// elsewhere are the opcodes that the patterns leave out, and who tries them.
var elsewhere = map[string]string{
	"addc": "carries", "subc": "carries", "madc": "carries",
}

// TestEveryOpcodeIsNamed compares the patterns with the opcodes that package
// program knows as arithmetic.
func TestEveryOpcodeIsNamed(t *testing.T) {
	named := map[string]bool{}
	for _, p := range patterns() {
		for _, n := range Expand(p) {
			named[n[:strings.IndexByte(n, '.')]] = true
		}
	}
	opcodes := program.Arithmetic()
	for _, op := range opcodes {
		if !named[op] && elsewhere[op] == "" {
			t.Errorf("no pattern names %s", op)
		}
	}
	for op := range named {
		if !slices.Contains(opcodes, op) {
			t.Errorf("package program knows no %s", op)
		}
	}
}

// TestEveryInstructionHasAForm checks that sm_90.txt lists what ptxas accepts, all
// of which is a form: a device runs it, and the simulator must know it.
func TestEveryInstructionHasAForm(t *testing.T) {
	var all []Form
	for _, p := range patterns() {
		for _, n := range Expand(p) {
			if f, ok := Signature(n); ok && !undocumented.MatchString(n) {
				all = append(all, f)
			}
		}
	}
	if *update {
		update90(t, all)
		t.Skip("sm_90.txt is written")
	}
	possible := map[string]bool{}
	for _, f := range all {
		possible[f.Name] = true
	}
	for line := range strings.Lines(accepted) {
		if line[0] != '#' && !possible[strings.TrimSpace(line)] {
			t.Errorf("sm_90.txt names %s, which no pattern does", strings.TrimSpace(line))
		}
	}
}

// update90 asks ptxas for each form, all in one module: its messages name lines.
func update90(t *testing.T, forms []Form) {
	ptxas := os.Getenv("MAGE_PTXAS")
	if ptxas == "" {
		t.Fatal("MAGE_PTXAS must name ptxas")
	}
	dir := t.TempDir()
	message := regexp.MustCompile(`line (\d+); (?:error|fatal)`)
	for {
		var b strings.Builder
		b.WriteString(".version 8.6 .target sm_90 .address_size 64\n")
		for i, f := range forms {
			var k strings.Builder
			f.kernel(&k, i)
			head, rest, _ := strings.Cut(k.String(), "\n")
			head, _, _ = strings.Cut(head, "//")
			b.WriteString(head + strings.ReplaceAll(rest, "\n", " ") + "\n")
		}
		file := filepath.Join(dir, "all.ptx")
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(ptxas, "-arch", "sm_90", "-O0", file, "-o", filepath.Join(dir, "all.cubin")).CombinedOutput()
		if err == nil {
			break
		}
		bad := map[int]bool{}
		for _, m := range message.FindAllSubmatch(out, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			bad[n-2] = true
		}
		if len(bad) == 0 {
			t.Fatalf("%v: %s", err, out)
		}
		var left []Form
		for i, f := range forms {
			if !bad[i] {
				left = append(left, f)
			}
		}
		forms = left
	}
	var b strings.Builder
	b.WriteString("# Instructions that ptxas 13.0 accepts for sm_90, of those that coverage_test.go names.\n")
	for _, f := range forms {
		fmt.Fprintln(&b, f.Name)
	}
	if err := os.WriteFile("sm_90.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
