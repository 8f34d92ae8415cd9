package simt_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mage/gpu/simt"
	"mage/gpu/simt/exec"
)

const assertion = `.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {110, 32, 60, 32, 53};
.global .align 1 .b8 file[11] = {47, 115, 114, 99, 47, 107, 46, 99, 117};
`

// TestWhatEndsALaunch: the error says where and which thread, and is a finding too. What
// the kernel put right does is none.
func TestWhatEndsALaunch(t *testing.T) {
	assert := "mov.u64 %d1, message; cvta.global.u64 %d1, %d1; mov.u64 %d2, file; cvta.global.u64 %d2, %d2;" +
		" { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;" +
		" st.param.b64 [a], %d1; st.param.b64 [b], %d2; st.param.b32 [c], 7; st.param.b64 [d], 0; st.param.b64 [e], 1;" +
		" call.uni __assertfail, (a, b, c, d, e); }"
	for want, body := range map[string]struct{ wrong, right string }{
		"k: trap at k.ptx:9 (trap) by thread (37,0,0) in block (1,0,0)": {
			"@%q1 trap;", "setp.gt.u32 %q1, %r1, 363; @%q1 trap;"},
		"k: endless: the block executed 6": {
			"@%q1 bra A; ret; A: bra A;", "@%q1 bra A; ret; A: sub.u32 %r1, %r1, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra A;"},
		"k: assertion failed: n < 5 (k.cu:7) at k.ptx:9 (call.uni) by thread (37,0,0) in block (1,0,0)": {
			"@!%q1 ret; " + assert, "setp.gt.u32 %q1, %r1, 363; @!%q1 ret; " + assert},
	} {
		launch := func(body string) (*rig, error) {
			r := newRig(t, simt.Options{MaxBlockInstructions: 1 << 16}, assertion+`.visible .entry k() { .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %q<3>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 100, %r1; setp.eq.u32 %q1, %r1, 137;
`+body+"\nret; }")
			return r, r.run(4, 64, 0)
		}
		r, err := launch(body.wrong)
		if stopped, ok := errors.AsType[*exec.Error](err); !ok || !strings.Contains(err.Error(), want) || stopped.Finding.Thread[0] != 37 {
			t.Errorf("error %v, want %s", err, want)
		}
		if found := r.device.Findings(); len(found) != 1 || !strings.Contains(found[0].String(), want) {
			t.Errorf("findings %v, want %s", found, want)
		}
		r, err = launch(body.right)
		if found := r.device.Findings(); err != nil || len(found) > 0 {
			t.Errorf("put right, in place of %s: error %v, findings %v", want, err, found)
		}
	}
}

// TestTheLowestBlockFails: the error does not depend on which block fails first.
func TestTheLowestBlockFails(t *testing.T) {
	r := newRig(t, simt.Options{Workers: 4}, `.visible .entry k() { .reg .b32 %r<4>; .reg .pred %q<3>;
mov.u32 %r1, %ctaid.x; sub.u32 %r2, 5, %r1; mul.lo.u32 %r2, %r2, 3000;
A: sub.s32 %r2, %r2, 1; setp.gt.s32 %q1, %r2, 0; @%q1 bra A;
setp.gt.u32 %q2, %r1, 1; @%q2 trap; ret; }`)
	for range 5 {
		if err := r.run(16, 32, 0); err == nil || !strings.Contains(err.Error(), "in block (2,0,0)") {
			t.Fatalf("error %v", err)
		}
	}
}

// TestStop ends a kernel that would go on for minutes.
func TestStop(t *testing.T) {
	r := newRig(t, simt.Options{MaxBlockInstructions: 1 << 60}, ".visible .entry k() { A: bra A; }")
	began := time.Now()
	go func() {
		for {
			p, running := r.device.Progress()
			if running && p.Instructions > 0 {
				if p.Kernel != "k" || p.Blocks != 3 || p.Done != 0 || p.Since.Before(began) {
					t.Errorf("progress %+v", p)
				}
				r.device.Stop()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := r.run(3, 64, 0); !errors.Is(err, simt.ErrStopped) || !strings.Contains(err.Error(), "after 0 of 3 blocks") {
		t.Errorf("error %v", err)
	}
	if _, running := r.device.Progress(); running {
		t.Error("it is still running")
	}
	counted := r.device.Counters().Instructions.Total()
	if err := r.run(3, 64, 0); !errors.Is(err, simt.ErrStopped) || r.device.Counters().Instructions.Total() != counted {
		t.Errorf("a later launch began: %v", err)
	}
}
