package simt_test

import (
	"errors"
	"strings"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/unavailable"
)

const increment = `.visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %d<3>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2; ret; }`

func TestStreamsRunInOrderWhenSynchronized(t *testing.T) {
	r := newRig(t, simt.Options{}, increment)
	p, q := r.words(1, 2), r.words(0, 0)
	l, err := r.function.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{2, 1, 1}}, gpu.Pointer(p))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{l.Submit(r.stream), r.stream.CopyAsync(q, p, 8), r.stream.FillAsync(p, 0, 4), l.Submit(r.stream)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := r.read(p, 2); got[0] != 1 || got[1] != 2 {
		t.Errorf("before synchronizing: %v", got)
	}
	if err := r.stream.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if got := r.read(q, 2); got[0] != 2 || got[1] != 3 {
		t.Errorf("the copy: %v", got)
	}
	if got := r.read(p, 2); got[0] != 1 || got[1] != 4 {
		t.Errorf("at the end: %v", got)
	}
	if n := r.device.Counters().Launches; n != 2 {
		t.Errorf("%d launches", n)
	}
}

func TestWhatNeedsAClockIsUnavailable(t *testing.T) {
	r := newRig(t, simt.Options{}, increment)
	_, event := r.device.NewEvent()
	_, trace := r.device.TraceKernels(func() error { return nil })
	_, graph := r.stream.Capture(func() error { return nil })
	for name, err := range map[string]error{"event": event, "trace": trace, "graph": graph, "record": r.stream.Record(nil), "replay": r.stream.Replay(nil)} {
		if _, ok := unavailable.As(err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBindRefusesWhatADriverWould(t *testing.T) {
	r := newRig(t, simt.Options{}, ".visible .entry k(.param .u64 p) .maxntid 64 { .shared .b8 s[1024]; .reg .b64 %d; mov.u64 %d, s; ret; }")
	one := [3]uint32{1, 1, 1}
	for name, x := range map[string]struct {
		config gpu.Config
		args   []gpu.Arg
		want   string
	}{
		"empty grid":          {gpu.Config{Block: one}, []gpu.Arg{gpu.Pointer(0)}, "must be positive"},
		"large block":         {gpu.Config{Grid: one, Block: [3]uint32{65, 1, 1}}, []gpu.Arg{gpu.Pointer(0)}, "allows 64"},
		"high grid":           {gpu.Config{Grid: [3]uint32{1, 65536, 1}, Block: one}, []gpu.Arg{gpu.Pointer(0)}, "takes [2147483647 65535 65535] at most"},
		"many blocks":         {gpu.Config{Grid: [3]uint32{1 << 30, 2, 1}, Block: one}, []gpu.Arg{gpu.Pointer(0)}, "tells 2147483645 blocks apart"},
		"no argument":         {gpu.Config{Grid: one, Block: one}, nil, "takes 1 arguments"},
		"short argument":      {gpu.Config{Grid: one, Block: one}, []gpu.Arg{gpu.Uint32(0)}, "has 4 bytes, it takes 8"},
		"much shared memory":  {gpu.Config{Grid: one, Block: one, DynamicShared: 227 << 10}, []gpu.Arg{gpu.Pointer(0)}, "bytes of shared memory"},
		"everything in order": {gpu.Config{Grid: one, Block: one, DynamicShared: 226 << 10}, []gpu.Arg{gpu.Pointer(0)}, ""},
	} {
		_, err := r.function.Bind(x.config, x.args...)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, err := r.function.Attributes()
	if err != nil || a.StaticSharedBytes != 1024 || a.MaxThreadsPerBlock != 64 || a.PTXVersion != 80 {
		t.Errorf("attributes %+v, %v", a, err)
	}
}

func TestMemoryOfTheDevice(t *testing.T) {
	d, err := simt.Open(simt.Options{MemoryBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Alloc(600)
	if err != nil || p%256 != 0 {
		t.Fatalf("%#x, %v", p, err)
	}
	if _, err := d.Alloc(600); err == nil || !strings.Contains(err.Error(), "400 are free") {
		t.Errorf("beyond the limit: %v", err)
	}
	empty, err := d.Alloc(0)
	if err != nil || empty == p {
		t.Errorf("%#x, %v", empty, err)
	}
	if err := d.Upload(p+1, make([]byte, 600)); err == nil || !strings.Contains(err.Error(), "pass the end") {
		t.Errorf("upload beyond the end: %v", err)
	}
	if err := d.Free(p + 4); err == nil {
		t.Error("freed the middle of an allocation")
	}
	if err := errors.Join(d.Free(p), d.Free(empty)); err != nil {
		t.Error(err)
	}
	if err := d.Download(make([]byte, 4), p); err == nil || !strings.Contains(err.Error(), "that was freed") {
		t.Errorf("download of freed memory: %v", err)
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if _, err := d.Alloc(1); !errors.Is(err, simt.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
}

func TestVariablesOfAModule(t *testing.T) {
	r := newRig(t, simt.Options{}, `.global .u32 a[3] = {1, 2, 3};
.global .u64 to = generic(a)+4;
.global .f32 half = 0.5;
.visible .entry k(.param .u64 p) { .reg .b32 %r<5>; .reg .b64 %d<5>;
ld.param.u64 %d1, [p]; ld.global.u64 %d2, [to]; ld.global.u32 %r1, [%d2]; ld.global.u32 %r2, [half];
ld.global.u32 %r3, [a+8]; st.global.v2.u32 [%d1], {%r1, %r2}; st.global.u32 [%d1+8], %r3; ret; }`)
	p := r.alloc(3)
	if err := r.run(1, 1, 0, gpu.Pointer(p)); err != nil {
		t.Fatal(err)
	}
	if got := r.read(p, 3); got[0] != 2 || got[1] != 0x3f000000 || got[2] != 3 {
		t.Errorf("%#x", got)
	}
}

// TestWarpsThatWaitForEachOther spins on shared memory that another warp writes
// later, and on global memory that an earlier block writes.
func TestWarpsThatWaitForEachOther(t *testing.T) {
	r := newRig(t, simt.Options{}, `.visible .entry k(.param .u64 p) { .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %q<3>; .shared .u32 flag;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
setp.eq.u32 %q1, %r1, 0; @%q1 st.shared.u32 [flag], 0; bar.sync 0;
setp.ge.u32 %q2, %r1, 32; @%q2 bra SECOND;
A: ld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %q1, %r3, 0; @%q1 bra A; bra MEET;
SECOND: st.volatile.shared.u32 [flag], 1;
MEET: bar.sync 0; setp.ne.u32 %q1, %r1, 0; @%q1 ret;
B: ld.acquire.gpu.global.u32 %r3, [%d1]; setp.ne.u32 %q1, %r3, %r2; @%q1 bra B;
add.u32 %r3, %r3, 1; st.release.gpu.global.u32 [%d1], %r3; ret; }`)
	p := r.words(0)
	if err := r.run(8, 64, 0, gpu.Pointer(p)); err != nil {
		t.Fatal(err)
	}
	if got := r.read(p, 1)[0]; got != 8 {
		t.Errorf("%d blocks took their turn", got)
	}
}
