package simt_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
)

// TestAtomicsUnderContention: every thread of many blocks changes one word. What is
// left is the fold of all operands, in any order; and what the threads saw is one
// chain: every value but the last was seen, by exactly one thread.
func TestAtomicsUnderContention(t *testing.T) {
	const blocks, threads = 24, 64
	type op struct {
		name, space string
		wide        bool
		start       uint64
		operand     func(i int) uint64
		apply       func(old, x uint64) uint64
	}
	i32 := func(f func(a, b int32) int32) func(a, b uint64) uint64 {
		return func(a, b uint64) uint64 { return uint64(uint32(f(int32(a), int32(b)))) }
	}
	scatter := func(i int) uint64 { return uint64(uint32(i) * 0x9e3779b9) }
	ops := []op{
		{"add.u32", "", false, 5, scatter, func(a, b uint64) uint64 { return uint64(uint32(a + b)) }},
		{"add.u64", "", true, 5, func(i int) uint64 { return scatter(i) << 20 }, func(a, b uint64) uint64 { return a + b }},
		{"min.s32", "", false, 1 << 30, scatter, i32(func(a, b int32) int32 { return min(a, b) })},
		{"max.s32", "", false, 1 << 31, scatter, i32(func(a, b int32) int32 { return max(a, b) })},
		{"min.u32", "", false, math.MaxUint32, scatter, func(a, b uint64) uint64 { return min(a, b) }},
		{"max.u64", "", true, 0, func(i int) uint64 { return scatter(i) << 31 }, func(a, b uint64) uint64 { return max(a, b) }},
		{"and.b32", "", false, math.MaxUint32, func(i int) uint64 { return scatter(i) | 0xfff }, func(a, b uint64) uint64 { return a & b }},
		{"or.b32", "", false, 0, func(i int) uint64 { return scatter(i) & 0xff00 }, func(a, b uint64) uint64 { return a | b }},
		{"xor.b64", "", true, 0, func(i int) uint64 { return scatter(i) << 9 }, func(a, b uint64) uint64 { return a ^ b }},
		{"inc.u32", "", false, 7, func(int) uint64 { return 1000 }, func(a, b uint64) uint64 {
			if a >= b {
				return 0
			}
			return a + 1
		}},
		{"dec.u32", "", false, 7, func(int) uint64 { return 1000 }, func(a, b uint64) uint64 {
			if a == 0 || a > b {
				return b
			}
			return a - 1
		}},
		{"add.f32", "", false, 0, func(i int) uint64 { return uint64(math.Float32bits(float32(i))) }, func(a, b uint64) uint64 {
			return uint64(math.Float32bits(math.Float32frombits(uint32(a)) + math.Float32frombits(uint32(b))))
		}},
		{"add.f64", "", true, 0, func(i int) uint64 { return math.Float64bits(float64(i)) }, func(a, b uint64) uint64 {
			return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
		}},
	}
	for _, o := range ops {
		t.Run(o.name, func(t *testing.T) {
			r := newRig(t, simt.Options{Workers: 4}, fmt.Sprintf(`.visible .entry k(.param .u64 word, .param .u64 operands, .param .u64 seen) {
.reg .b32 %%r<4>; .reg .b64 %%d<8>; ld.param.u64 %%d1, [word]; ld.param.u64 %%d2, [operands]; ld.param.u64 %%d3, [seen];
mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mad.lo.u32 %%r1, %%r2, %d, %%r1; mul.wide.u32 %%d4, %%r1, 8; add.s64 %%d2, %%d2, %%d4; add.s64 %%d3, %%d3, %%d4;
ld.global.u64 %%d5, [%%d2]; mov.u64 %%d6, 0; %s st.global.u64 [%%d3], %%d6; ret; }`, threads, change(o.name, o.wide)))
			n := blocks * threads
			operands, want := make([]uint32, 2*n), o.start
			for i := range n {
				x := o.operand(i)
				operands[2*i], operands[2*i+1] = uint32(x), uint32(x>>32)
				want = o.apply(want, x)
			}
			word, in, seen := r.words(uint32(o.start), uint32(o.start>>32)), r.words(operands...), r.alloc(2*n)
			if err := r.run(blocks, threads, 0, gpu.Pointer(word), gpu.Pointer(in), gpu.Pointer(seen)); err != nil {
				t.Fatal(err)
			}
			join := func(w []uint32) (all []uint64) {
				for i := 0; i < len(w); i += 2 {
					all = append(all, uint64(w[i])|uint64(w[i+1])<<32)
				}
				return all
			}
			left := join(r.read(word, 2))[0]
			if left != want {
				t.Errorf("left %#x, want %#x", left, want)
			}
			// What the threads saw and the last value are the first value and what each
			// made of what it saw.
			saw := join(r.read(seen, 2*n))
			made := []uint64{o.start}
			for i, v := range saw {
				made = append(made, o.apply(v, o.operand(i)))
			}
			saw = append(saw, left)
			slices.Sort(saw)
			slices.Sort(made)
			if !slices.Equal(saw, made) {
				t.Error("what threads saw is not what others left")
			}
		})
	}
}

// change is an atomic by the operand in %d5, whose old value goes to %d6.
func change(name string, wide bool) string {
	if wide {
		return "atom.global." + name + " %d6, [%d1], %d5;"
	}
	return "cvt.u32.u64 %r3, %d5; atom.global." + name + " %r3, [%d1], %r3; cvt.u64.u32 %d6, %r3;"
}
