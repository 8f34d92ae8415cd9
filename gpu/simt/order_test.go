package simt_test

import (
	"errors"
	"fmt"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/verdict"
)

// TestBlocksThatPublish: work that is published by a fence and an atomic, or by a
// release, and acquired by who reads the word afterwards does not race; without the
// fence it does. Blocks are many and short, so that they meet.
func TestBlocksThatPublish(t *testing.T) {
	// The last of all blocks reads what each wrote.
	last := `.visible .entry k(.param .u64 p) { .reg .b32 %%r<9>; .reg .b64 %%d<5>; .reg .pred %%q<3>;
ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%nctaid.x; mul.wide.u32 %%d2, %%r1, 4; add.s64 %%d2, %%d1, %%d2;
add.u32 %%r3, %%r1, 1; st.global.u32 [%%d2+8], %%r3;
%s
add.u32 %%r4, %%r4, 1; setp.lt.u32 %%q1, %%r4, %%r2; @%%q1 ret;
mov.u32 %%r5, 0; mov.u32 %%r6, 0; mov.u64 %%d3, %%d1;
L: ld.global.u32 %%r7, [%%d3+8]; add.u32 %%r5, %%r5, %%r7; add.s64 %%d3, %%d3, 4; add.u32 %%r6, %%r6, 1; setp.lt.u32 %%q1, %%r6, %%r2; @%%q1 bra L;
st.global.u32 [%%d1+4], %%r5; ret; }`
	for publish, right := range map[string]bool{
		"membar.gl; atom.global.add.u32 %r4, [%d1], 1;":         true,
		"fence.acq_rel.gpu; atom.global.add.u32 %r4, [%d1], 1;": true,
		"atom.acq_rel.gpu.global.add.u32 %r4, [%d1], 1;":        true,
		"atom.global.add.u32 %r4, [%d1], 1;":                    false,
		"W: ld.acquire.gpu.global.u32 %r4, [%d1]; setp.ne.u32 %q2, %r4, %r1; @%q2 bra W; st.release.gpu.global.u32 [%d1], %r3;": true,
		"W: ld.relaxed.gpu.global.u32 %r4, [%d1]; setp.ne.u32 %q2, %r4, %r1; @%q2 bra W; st.relaxed.gpu.global.u32 [%d1], %r3;": false,
	} {
		r := newRig(t, simt.Options{Workers: 4}, fmt.Sprintf(last, publish))
		const blocks = 64
		p := r.words(make([]uint32, blocks+2)...)
		for range 8 {
			if err := r.device.Fill(p, 0, 4); err != nil {
				t.Fatal(err)
			}
			err := r.run(blocks, 1, 0, gpu.Pointer(p))
			if got := r.read(p, 2); got[1] != blocks*(blocks+1)/2 {
				t.Errorf("%s: the sum is %d", publish, got[1])
			}
			found, _ := errors.AsType[*simt.CheckError](err)
			if right && err != nil || !right && (found == nil || found.Findings[0].Kind != verdict.GlobalRace) {
				t.Errorf("%s: %v", publish, err)
				break
			}
		}
	}
}
