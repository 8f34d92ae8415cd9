package simt_test

import (
	"strings"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
)

// TestThreadsThatLeaveEarly: nobody waits for lanes that return, at a barrier of the
// block or where paths of the warp meet, however deep they are when they return.
func TestThreadsThatLeaveEarly(t *testing.T) {
	for name, body := range map[string]string{
		"at the start":       "setp.ge.u32 %q1, %r1, 40; @%q1 bra END; BODY",
		"by a guard":         "setp.ge.u32 %q1, %r1, 40; @%q1 ret; BODY",
		"within a condition": "setp.lt.u32 %q1, %r1, 36; @%q1 bra A; setp.ge.u32 %q2, %r1, 40; @%q2 bra END; add.u32 %r4, %r1, 1; A: BODY",
		"within a loop": `mov.u32 %r4, 0; L: setp.ge.u32 %q1, %r1, 40; setp.eq.and.u32 %q1, %r4, 3, %q1; @%q1 bra END;
add.u32 %r4, %r4, 1; setp.lt.u32 %q2, %r4, 5; @%q2 bra L; BODY`,
		"with a store": "setp.lt.u32 %q1, %r1, 40; @%q1 bra A; st.global.u32 [%d2], 7; bra END; A: BODY",
	} {
		use := `st.shared.u32 [%d3], %r1; bar.sync 0; ld.shared.u32 %r5, [%d4]; st.global.u32 [%d2], %r5; END: ret; }`
		text := `.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 p) { .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %q<3>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; mov.u64 %d3, dyn; add.s64 %d3, %d3, %d2; add.s64 %d2, %d1, %d2;
sub.u32 %r2, 39, %r1; mul.wide.s32 %d4, %r2, 4; mov.u64 %d5, dyn; add.s64 %d4, %d4, %d5;
`
		text += strings.Replace(body, "BODY", use, 1)
		r := newRig(t, simt.Options{}, text)
		p := r.words(make([]uint32, 64)...)
		if err := r.run(1, 64, 256, gpu.Pointer(p)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range r.read(p, 40) {
			if v != uint32(39-i) {
				t.Errorf("%s: thread %d read %d", name, i, v)
			}
		}
	}
}
