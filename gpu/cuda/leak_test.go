package cuda_test

import (
	"testing"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
)

// TestCloseFreesEverything makes two of each thing and destroys none.
func TestCloseFreesEverything(t *testing.T) {
	d, control := openStub(t)
	for range 2 {
		p := must(d.Alloc(1000))(t)
		l := kernel(t, d, "stub_fill", gpu.Pointer(p), gpu.Float32(0), gpu.Uint32(0))
		s := must(d.NewStream())(t)
		must(d.NewEvent())(t)
		must(s.Capture(func() error { return l.Submit(s) }))(t)
	}
	want := cuda.Live{Allocations: 2, Modules: 2, Streams: 2, Events: 2, Graphs: 2, Bytes: 2000}
	if got := d.Live(); got != want {
		t.Errorf("alive %+v, want %+v", got, want)
	}
	for k, n := range map[cudatest.Kind]int64{cudatest.Memory: 2, cudatest.Module: 2, cudatest.Stream: 2,
		cudatest.Event: 2, cudatest.Graph: 2, cudatest.Template: 0, cudatest.Context: 1} {
		if got := control.Live(k); got != n {
			t.Errorf("the driver holds %d of kind %d, want %d", got, k, n)
		}
	}
	check(t, d.Close())
	if got := d.Live(); got != (cuda.Live{}) {
		t.Errorf("alive after close: %+v", got)
	}
	control.NoLeaks(t)
}

func TestDestroyForgets(t *testing.T) {
	d, control := openStub(t)
	s, e := must(d.NewStream())(t), must(d.NewEvent())(t)
	check(t, e.Destroy())
	check(t, s.Destroy())
	if e.Destroy() == nil || s.Destroy() == nil || s.Synchronize() == nil || e.Synchronize() == nil {
		t.Error("used after destruction")
	}
	if got := d.Live(); got != (cuda.Live{}) {
		t.Errorf("alive: %+v", got)
	}
	check(t, d.Close())
	control.NoLeaks(t)
}

// TestHotCallsAllocateNothing covers every call of a measured loop.
func TestHotCallsAllocateNothing(t *testing.T) {
	d, _ := openStub(t)
	p := must(d.Alloc(64))(t)
	l := kernel(t, d, "stub_fill", gpu.Pointer(p), gpu.Float32(1), gpu.Uint32(16))
	s := must(d.NewStream())(t)
	first, last := must(d.NewEvent())(t), must(d.NewEvent())(t)
	g := must(s.Capture(func() error { return l.Submit(s) }))(t)
	for name, call := range map[string]func() error{
		"Submit":             func() error { return l.Submit(s) },
		"Record":             func() error { return s.Record(first) },
		"FillAsync":          func() error { return s.FillAsync(p, 0, 64) },
		"CopyAsync":          func() error { return s.CopyAsync(p, p, 64) },
		"Replay":             func() error { return s.Replay(g) },
		"Stream.Synchronize": s.Synchronize,
		"Event.Synchronize":  func() error { return first.Synchronize() },
		"MicrosecondsSince": func() error {
			if err := s.Record(last); err != nil {
				return err
			}
			_, err := last.MicrosecondsSince(first)
			return err
		},
	} {
		check(t, s.Record(first))
		if n := testing.AllocsPerRun(200, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkSubmitStub(b *testing.B) {
	d, _ := openStub(b)
	l := kernel(b, d, "stub_empty")
	s := must(d.NewStream())(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Submit(s); err != nil {
			b.Fatal(err)
		}
	}
}
