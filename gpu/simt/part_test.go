package simt_test

import "testing"

// TestPartsOfAWarp: instructions that name some lanes only, alone and with others at
// the same instruction of another path.
func TestPartsOfAWarp(t *testing.T) {
	low := "mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 16; mov.u32 %r1, 99; "
	lower := func(f func(i int) uint64) func(int) uint64 {
		return func(i int) uint64 {
			if i < 16 {
				return f(i)
			}
			return 99
		}
	}
	check(t, []snippet{
		{low + "@%p1 shfl.sync.bfly.b32 %r1, %r2, 1, 31, 0xffff;", lower(func(i int) uint64 { return uint64(i ^ 1) })},
		{low + "@%p1 shfl.sync.down.b32 %r1, %r2, 1, 0x181f, 0xffff;", lower(func(i int) uint64 { return uint64(i&^7 | min(i&7+1, 7)) })},
		{low + "@%p1 shfl.sync.idx.b32 %r1, %r2, 35, 31, 0xffff;", lower(func(int) uint64 { return 3 })},
		{low + "and.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 1; @%p1 vote.sync.ballot.b32 %r1, %p2, 0xffff;", lower(func(int) uint64 { return 0xaaaa })},
		{low + "and.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 1; @%p1 vote.sync.ballot.b32 %r1, !%p2, 0xffff;", lower(func(int) uint64 { return 0x5555 })},
		{low + "@%p1 vote.sync.all.pred %p2, %p1, 0xffff; @%p1 selp.u32 %r1, 1, 0, %p2;", lower(func(int) uint64 { return 1 })},
		{low + "setp.ge.u32 %p3, %r2, 16; @%p1 vote.sync.uni.pred %p2, %p3, 0xffff; @%p1 selp.u32 %r1, 1, 0, %p2;", lower(func(int) uint64 { return 1 })},
		{low + "setp.eq.u32 %p3, %r2, 3; @%p1 vote.sync.uni.pred %p2, %p3, 0xffff; @%p1 selp.u32 %r1, 1, 0, %p2;", lower(func(int) uint64 { return 0 })},
		{low + "shr.u32 %r3, %r2, 2; @%p1 match.any.sync.b32 %r1, %r3, 0xffff;", lower(func(i int) uint64 { return 0xf << (i &^ 3) })},
		{low + "shr.u32 %r3, %r2, 4; @%p1 match.all.sync.b32 %r1|%p2, %r3, 0xffff;", lower(func(int) uint64 { return 0xffff })},
		{low + "@%p1 redux.sync.add.u32 %r1, %r2, 0xffff;", lower(func(int) uint64 { return 120 })},
		{low + "@%p1 redux.sync.xor.b32 %r1, %r2, 0xffff;", lower(func(int) uint64 { return 0 })},
		{low + "@%p1 redux.sync.max.s32 %r1, %r2, 0xffff;", lower(func(int) uint64 { return 15 })},
		{low + "setp.ge.u32 %p2, %r2, 4; and.pred %p1, %p1, %p2; @%p1 elect.sync %r1|%p3, 0xfff0;", func(i int) uint64 {
			if i >= 4 && i < 16 {
				return 4
			}
			return 99
		}},
		// Both halves of the warp shuffle, each on its own way and within itself.
		{low + "@%p1 bra A; shfl.sync.up.b32 %r1, %r2, 1, 0x1000, 0xffff0000; bra B; A: shfl.sync.up.b32 %r1, %r2, 2, 0x1000, 0xffff; B:", func(i int) uint64 {
			if i < 16 {
				return uint64(i - 2*min(i/2, 1))
			}
			return uint64(max(i-1, 16))
		}},
		{low + "bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1; selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3; or.b32 %r1, %r3, %r4;", constant(2)},
	}, false)
}

// TestFormsOfAccesses: widths, signs, vectors and what is beside an element.
func TestFormsOfAccesses(t *testing.T) {
	own := "mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 16; mov.u64 %d3, dyn; add.s64 %d3, %d3, %d2; st.shared.v4.u32 [%d3], {0x80ff7f01, 0x12345678, -1, 0}; "
	check(t, []snippet{
		{own + "ld.shared.s8 %r1, [%d3+2];", constant(0xffffffff)},
		{own + "ld.shared.u8 %r1, [%d3+3];", constant(0x80)},
		{own + "ld.shared.v2.s8 {%r3, %r1}, [%d3+2];", constant(0xffffff80)},
		{own + "ld.shared.v4.u8 {%r1, %r3, %r4, %r5}, [%d3]; shl.b32 %r3, %r3, 8; or.b32 %r1, %r1, %r3;", constant(0x7f01)},
		{own + "ld.shared.s16 %r1, [%d3+2];", constant(0xffff80ff)},
		{own + "ld.shared.v2.b16 {%h1, %h2}, [%d3+4]; mov.b32 %r1, {%h2, %h1};", constant(0x56781234)},
		{own + "st.shared.u8 [%d3+1], 0x1ff; ld.shared.u32 %r1, [%d3];", constant(0x80ffff01)},
		{own + "cvt.u16.u32 %h1, 0xbeef; st.shared.b16 [%d3+2], %h1; ld.shared.u32 %r1, [%d3];", constant(0xbeef7f01)},
		{own + "cvt.u16.u32 %h1, 0x5678; cvt.u16.u32 %h2, 0xabcd; atom.shared.cas.b16 %h3, [%d3+4], %h1, %h2; ld.shared.u32 %r1, [%d3+4];", constant(0x1234abcd)},
		{own + "cvt.u16.u32 %h1, 0x5679; cvt.u16.u32 %h2, 0xabcd; atom.shared.cas.b16 %h3, [%d3+4], %h1, %h2; ld.shared.u32 %r1, [%d3+4];", constant(0x12345678)},
		{own + "atom.shared.exch.b32 %r3, [%d3+8], 5; ld.shared.u32 %r4, [%d3+8]; add.u32 %r1, %r3, %r4;", constant(4)},
		{own + "red.shared.dec.u32 [%d3+12], 9; ld.shared.u32 %r1, [%d3+12];", constant(9)},
		{own + "red.shared.max.s32 [%d3+8], -7; ld.shared.u32 %r1, [%d3+8];", constant(0xffffffff)},
		{own + "red.shared.max.u32 [%d3+12], -7; ld.shared.u32 %r1, [%d3+12];", constant(0xfffffff9)},
		{own + "mov.u32 %r3, 0x3c003c00; st.shared.u32 [%d3], %r3; atom.shared.add.noftz.f16x2 %r4, [%d3], %r3; ld.shared.u32 %r1, [%d3];", constant(0x40004000)},
		{own + "isspacep.shared %p1, %d3; cvta.shared.u64 %d4, %d3; isspacep.shared %p2, %d4; isspacep.global %p3, %d4; cvta.to.shared.u64 %d5, %d4; setp.eq.u64 %p4, %d5, %d3; selp.u32 %r3, 2, 0, %p2; selp.u32 %r4, 4, 0, %p3; selp.u32 %r5, 8, 0, %p4; or.b32 %r1, %r3, %r4; or.b32 %r1, %r1, %r5;", constant(10)},
		{"mov.u32 %r1, %nwarpid; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, 1000, %r2;", constant(1032)},
		{"mov.u32 %r1, %lanemask_ge;", func(i int) uint64 { return uint64(^uint32(0) << i) }},
		{"mov.u32 %r2, 9; T: .branchtargets A, B; brx.idx %r2, T; A: mov.u32 %r1, 1; bra E; B: mov.u32 %r1, 2; E:", constant(2)}, // beyond the table: the last
	}, false)
	check(t, []snippet{
		{own + "ld.shared.s16 %d1, [%d3+2];", constant(0xffffffffffff80ff)},
		{own + "ld.shared.s32 %d1, [%d3];", constant(0xffffffff80ff7f01)},
		{own + "ld.shared.u32 %d1, [%d3];", constant(0x80ff7f01)},
		{own + "ld.shared.v2.u64 {%d1, %d4}, [%d3];", constant(0x1234567880ff7f01)},
		{own + "ld.shared.u64 %d4, [%d3]; mov.b64 {%r3, %r4}, %d4; mov.b64 %d1, {%r4, %r3};", constant(0x80ff7f0112345678)},
		{own + "atom.shared.exch.b64 %d1, [%d3], 7;", constant(0x1234567880ff7f01)},
		{own + "atom.shared.add.u64 %d4, [%d3], 0x100000000; ld.shared.u64 %d1, [%d3];", constant(0x1234567980ff7f01)},
	}, true)
}
