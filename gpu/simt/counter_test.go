package simt_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"mage/contract"
	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/verdict"
	"mage/kernels"
)

// access is a kernel in which each of 32 threads accesses the given address
// offset, computed from %r1, its number.
func access(setup, instruction string) string {
	return `.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 in) {
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b16 %h<4>;
ld.param.u64 %d1, [in]; mov.u32 %r1, %tid.x; mov.u32 %r9, 0; mov.u64 %d9, 0;
` + setup + `
cvt.u64.u32 %d2, %r2; add.s64 %d3, %d1, %d2; mov.u64 %d4, dyn; add.s64 %d4, %d4, %d2;
` + instruction + "\nret;\n}"
}

func TestGlobalSectors(t *testing.T) {
	for _, x := range []struct {
		name, setup, instruction string
		want                     simt.Traffic
	}{
		{"neighbouring words", "shl.b32 %r2, %r1, 2;", "ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 4, Ideal: 4, Bytes: 128}},
		{"reversed words", "sub.s32 %r2, 31, %r1; shl.b32 %r2, %r2, 2;", "ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 4, Ideal: 4, Bytes: 128}},
		{"one word for all", "mov.u32 %r2, 64;", "ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 1, Ideal: 1, Bytes: 128}},
		{"shifted by a word", "shl.b32 %r2, %r1, 2; add.s32 %r2, %r2, 4;", "ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 5, Ideal: 4, Bytes: 128}},
		{"every other word", "shl.b32 %r2, %r1, 3;", "ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 8, Ideal: 4, Bytes: 128}},
		{"one word per sector", "shl.b32 %r2, %r1, 5;", "ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 32, Ideal: 4, Bytes: 128}},
		{"vectors of four words", "shl.b32 %r2, %r1, 4;", "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%d3];", simt.Traffic{Requests: 1, Sectors: 16, Ideal: 16, Bytes: 512}},
		{"bytes", "mov.u32 %r2, %r1;", "ld.global.u8 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 1, Ideal: 1, Bytes: 32}},
		{"half of the lanes", "shl.b32 %r2, %r1, 2; setp.lt.u32 %p1, %r1, 16;", "@%p1 ld.global.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 2, Ideal: 2, Bytes: 64}},
		{"no lane", "shl.b32 %r2, %r1, 2; setp.lt.u32 %p1, %r1, 0;", "@%p1 ld.global.u32 %r3, [%d3];", simt.Traffic{}},
		{"through the generic space", "shl.b32 %r2, %r1, 2;", "ld.u32 %r3, [%d3];", simt.Traffic{Requests: 1, Sectors: 4, Ideal: 4, Bytes: 128}},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t, simt.Options{}, access(x.setup, x.instruction))
			if err := r.run(1, 32, 0, gpu.Pointer(r.words(make([]uint32, 1024)...))); err != nil {
				t.Fatal(err)
			}
			if got := r.device.Counters().GlobalLoads; got != x.want {
				t.Errorf("%+v, want %+v", got, x.want)
			}
		})
	}
}

func TestSharedBanks(t *testing.T) {
	for _, x := range []struct {
		name, setup, instruction string
		want                     simt.Banks
	}{
		{"neighbouring words", "shl.b32 %r2, %r1, 2;", "st.shared.u32 [%d4], %r9;", simt.Banks{Requests: 1, Wavefronts: 1, Ideal: 1, Bytes: 128}},
		{"every other word", "shl.b32 %r2, %r1, 3;", "st.shared.u32 [%d4], %r9;", simt.Banks{Requests: 1, Wavefronts: 2, Ideal: 1, Bytes: 128}},
		{"a column of 32", "shl.b32 %r2, %r1, 7;", "st.shared.u32 [%d4], %r9;", simt.Banks{Requests: 1, Wavefronts: 32, Ideal: 1, Bytes: 128}},
		{"a padded column", "mul.lo.u32 %r2, %r1, 132;", "st.shared.u32 [%d4], %r9;", simt.Banks{Requests: 1, Wavefronts: 1, Ideal: 1, Bytes: 128}},
		{"one word for all", "mov.u32 %r2, 0;", "st.shared.u32 [%d4], %r9;", simt.Banks{Requests: 1, Wavefronts: 1, Ideal: 1, Bytes: 128}},
		{"bytes", "mov.u32 %r2, %r1;", "st.shared.u8 [%d4], %r9;", simt.Banks{Requests: 1, Wavefronts: 1, Ideal: 1, Bytes: 32}},
		{"pairs of words", "shl.b32 %r2, %r1, 3;", "st.shared.u64 [%d4], %d9;", simt.Banks{Requests: 1, Wavefronts: 2, Ideal: 2, Bytes: 256}},
		{"vectors of four words", "shl.b32 %r2, %r1, 4;", "st.shared.v4.u32 [%d4], {%r9,%r9,%r9,%r9};", simt.Banks{Requests: 1, Wavefronts: 4, Ideal: 4, Bytes: 512}},
		{"a column of vectors", "shl.b32 %r2, %r1, 7;", "st.shared.v4.u32 [%d4], {%r9,%r9,%r9,%r9};", simt.Banks{Requests: 1, Wavefronts: 32, Ideal: 4, Bytes: 512}},
	} {
		t.Run(x.name, func(t *testing.T) {
			// Lanes that write one word write the same value: no race.
			r := newRig(t, simt.Options{}, access(x.setup, x.instruction))
			if err := r.run(1, 32, 4224, gpu.Pointer(r.words(0))); err != nil {
				t.Fatal(err)
			}
			if got := r.device.Counters().SharedStores; got != x.want {
				t.Errorf("%+v, want %+v", got, x.want)
			}
		})
	}
}

func TestInstructionCounts(t *testing.T) {
	// 48 threads: one whole warp and half of one. The branch sends the first 16
	// threads of the first warp another way; the second warp goes there whole.
	r := newRig(t, simt.Options{}, `.visible .entry k(.param .u64 in) {
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %d<2>;
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 16;
@%p1 bra A;
fma.rn.f32 %f1, %f2, %f3, %f1;
add.f32 %f1, %f2, %f3;
A: bar.sync 0;
ld.param.u64 %d1, [in];
red.global.add.u32 [%d1], 1;
ret; }`)
	p := r.words(7)
	if err := r.run(2, 48, 0, gpu.Pointer(p)); err != nil {
		t.Fatal(err)
	}
	c := r.device.Counters()
	want := simt.Counters{Launches: 1, Blocks: 2, Warps: 4, Threads: 96,
		Lanes: 2 * (6*48 + 32 + 2*16), Branches: 4, Divergent: 2, Barriers: 4,
		GlobalAtomics: 4, AtomicOperations: 96, FLOPs32: 2 * 3 * 16, BytesRead: 0, BytesWritten: 4}
	want.Instructions[verdict.Movement] = 4
	want.Instructions[verdict.Comparison] = 4
	want.Instructions[verdict.Control] = 8
	want.Instructions[verdict.Float32] = 4
	want.Instructions[verdict.Synchronisation] = 4
	want.Instructions[verdict.ParamAccess] = 4
	want.Instructions[verdict.AtomicAccess] = 4
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	if got := r.read(p, 1)[0]; got != 7+96 {
		t.Errorf("sum %d", got)
	}
	if got, want := c.ActiveLanes(), float64(2*(6*48+32+2*16))/float64(32*32); got != want {
		t.Errorf("active lanes %v, want %v", got, want)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back simt.Counters
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("through JSON: %+v, %v", back, err)
	}
}

// TestContractCounts compares counts of the built-in kernels with their closed
// forms, and checks that the number of cores changes nothing.
func TestContractCounts(t *testing.T) {
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	dims := map[string]contract.Dims{
		"matmul": {"M": 32, "N": 48, "K": 64}, "gelu": {"R": 4, "D": 256}, "layernorm": {"R": 4, "D": 512},
		"triangle": {"N": 16, "C": 3}, "neighbor": {"N": 8, "F": 32, "E": 64},
	}
	for _, c := range contract.All() {
		var first simt.Counters
		for workers := 1; workers <= 3; workers++ {
			d, all := laboratory(t, simt.Options{Workers: workers}, ks)
			g := gateCase{c, dims[c.Name()], cases(t, c)[0].distribution}
			if c.Name() == "neighbor" {
				g.distribution = "uniform"
			}
			op, err := all[0].Open(c, g.dims, g.inputs(t, 1))
			if err != nil {
				t.Fatal(err)
			}
			d.ResetCounters()
			if err := op.Run(); err != nil {
				t.Fatal(err)
			}
			got := d.Counters()
			if workers == 1 {
				first = got
				checkCounts(t, c, g.dims, got)
			} else if !reflect.DeepEqual(got, first) {
				t.Errorf("%s with %d workers: %+v, want %+v", c.Name(), workers, got, first)
			}
		}
	}
}

func checkCounts(t *testing.T, c contract.Contract, d contract.Dims, got simt.Counters) {
	t.Helper()
	// Compulsory bytes, each read or written once.
	var in int64
	for _, s := range c.Inputs(d) {
		in += int64(s.Bytes())
	}
	if c.Name() == "neighbor" {
		// Rows of X that no edge names are not read.
		in = got.BytesRead
	}
	if out := int64(c.Output(d).Bytes()); got.BytesRead != in || got.BytesWritten != out {
		t.Errorf("%s reads %d and writes %d bytes, want %d and %d", c.Name(), got.BytesRead, got.BytesWritten, in, out)
	}
	switch c.Name() {
	case "matmul": // tiles of 16: two shared loads per multiply-add
		tiles := int64(d["M"]*d["N"]*d["K"]) / 32
		if got.FLOPs32 != 64*tiles || got.SharedLoads.Requests != 2*tiles {
			t.Errorf("matmul: %d FLOPs, %d shared loads, want %d and %d", got.FLOPs32, got.SharedLoads.Requests, 64*tiles, 2*tiles)
		}
		// Each element of A is loaded once per 16 columns of C, in half rows of a warp.
		if want := int64(d["M"]*d["K"]/8*(d["N"]/16) + d["K"]*d["N"]/8*(d["M"]/16)); got.GlobalLoads.Sectors != want {
			t.Errorf("matmul: %d sectors loaded, want %d", got.GlobalLoads.Sectors, want)
		}
	case "gelu":
		n := int64(d["R"] * d["D"])
		if got.GlobalLoads.Sectors != 2*n/8 || got.GlobalStores.Sectors != n/8 || got.SpecialOperations != n {
			t.Errorf("gelu: %+v", got)
		}
	}
}
