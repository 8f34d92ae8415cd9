package cuda

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"mage/gpu"
	"mage/unavailable"
)

// cuptiStub is the stub library with its controls.
type cuptiStub struct {
	*tracer
	launch   func(n int32)
	refuse   func(result int32)
	badTime  func(kind int32)
	enabled  func() int32
	attached func() int32
}

func newCUPTIStub(t *testing.T, flags ...string) *cuptiStub {
	t.Helper()
	path := buildShared(t, "cupti_stub.c", flags...)
	lib, err := loadCUPTIFrom([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	s := &cuptiStub{tracer: &tracer{lib}}
	purego.RegisterLibFunc(&s.launch, handle, "stub_launch")
	purego.RegisterLibFunc(&s.refuse, handle, "stub_refuse")
	purego.RegisterLibFunc(&s.badTime, handle, "stub_bad_time")
	purego.RegisterLibFunc(&s.enabled, handle, "stub_enabled")
	purego.RegisterLibFunc(&s.attached, handle, "stub_attached")
	return s
}

func noSync() error { return nil }

func TestTrace(t *testing.T) {
	s := newCUPTIStub(t)
	const n = 30000 // more than fit one buffer
	s.launch(5)     // before the trace: not recorded
	records, err := s.trace(noSync, func() error { s.launch(n); runtime.GC(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := n - n/3; len(records) != want {
		t.Fatalf("%d kernels, want %d", len(records), want)
	}
	if s.enabled()+s.attached() != 0 {
		t.Error("CUPTI is still attached")
	}
	for j, k := range records {
		i := k.Correlation
		want := gpu.KernelRecord{
			Name:    "even",
			StartNS: 1_000_000 + 1000*uint64(i^1), EndNS: 1_000_700 + 1000*uint64(i^1),
			Grid: [3]uint32{i + 10, i + 11, i + 12}, Block: [3]uint32{32, 16, 8},
			Registers: 40, StaticSharedBytes: 1024, DynamicSharedBytes: 65536, LocalBytes: 16,
			Correlation: i,
		}
		if i%2 == 1 {
			want.Name, want.GraphNode = "_Z3oddv", 0x1234567890
		}
		if k != want {
			t.Fatalf("record %d:\n got %+v\nwant %+v", j, k, want)
		}
		if j > 0 && k.StartNS < records[j-1].StartNS {
			t.Fatalf("record %d starts before the one ahead of it", j)
		}
	}
	again, err := s.trace(noSync, func() error { s.launch(3); return nil })
	if err != nil || len(again) != 2 {
		t.Errorf("a second trace gave %d kernels, %v; want 2", len(again), err)
	}
	if none, err := s.trace(noSync, func() error { return nil }); err != nil || len(none) != 0 {
		t.Errorf("an empty trace gave %d kernels, %v", len(none), err)
	}
}

func TestTraceFailures(t *testing.T) {
	boom := errors.New("boom")
	launch := func(s *cuptiStub) func() error { return func() error { s.launch(6); return nil } }
	for name, c := range map[string]struct {
		flags []string
		run   func(s *cuptiStub) error
		want  string
	}{
		"dropped records": {[]string{"-DSTUB_DROPS"}, func(s *cuptiStub) error {
			_, err := s.trace(noSync, launch(s))
			return err
		}, "dropped 1 records"},
		"no timestamps": {nil, func(s *cuptiStub) error {
			s.badTime(1)
			_, err := s.trace(noSync, launch(s))
			return err
		}, "has no timestamps"},
		"time runs backwards": {nil, func(s *cuptiStub) error {
			s.badTime(2)
			_, err := s.trace(noSync, launch(s))
			return err
		}, "ends 5 ns before it starts"},
		"work failed": {nil, func(s *cuptiStub) error {
			_, err := s.trace(noSync, func() error { s.launch(6); return boom })
			return err
		}, "boom"},
		"the device failed": {nil, func(s *cuptiStub) error {
			calls := 0
			_, err := s.trace(func() error {
				if calls++; calls == 2 {
					return boom
				}
				return nil
			}, launch(s))
			return err
		}, "tracing kernels: boom"},
		"a trace within a trace": {nil, func(s *cuptiStub) error {
			_, err := s.trace(noSync, func() error {
				_, err := s.trace(noSync, launch(s))
				return err
			})
			return err
		}, "another trace is running"},
		"closed": {nil, func(s *cuptiStub) error {
			closed := &tracer{s.cupti}
			closed.close()
			_, err := closed.trace(noSync, launch(s))
			return err
		}, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCUPTIStub(t, c.flags...)
			err := c.run(s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if s.enabled()+s.attached() != 0 {
				t.Error("CUPTI is still attached")
			}
			s.badTime(0)
			if len(c.flags) == 0 {
				if r, err := s.trace(noSync, launch(s)); err != nil || len(r) != 4 {
					t.Errorf("the next trace gave %d kernels, %v; want 4", len(r), err)
				}
			}
		})
	}
}

func TestTracePanicDisables(t *testing.T) {
	s := newCUPTIStub(t)
	func() {
		defer func() { _ = recover() }()
		_, _ = s.trace(noSync, func() error { s.launch(3); panic("in f") })
	}()
	if s.enabled()+s.attached() != 0 {
		t.Error("CUPTI is still attached")
	}
	if r, err := s.trace(noSync, func() error { s.launch(6); return nil }); err != nil || len(r) != 4 {
		t.Errorf("the next trace gave %d kernels, %v; want 4", len(r), err)
	}
}

func TestTraceRefused(t *testing.T) {
	s := newCUPTIStub(t)
	s.refuse(39)
	_, err := s.trace(noSync, func() error { return nil })
	u, ok := unavailable.As(err)
	if !ok || !strings.Contains(u.Reason, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)") || u.Remedy == "" {
		t.Errorf("got %v", err)
	}
	if s.attached() != 0 {
		t.Error("CUPTI is still attached")
	}
	s.refuse(0)
	if _, err := s.trace(noSync, func() error { return nil }); err != nil {
		t.Errorf("after the refusal: %v", err)
	}
}

func TestCUPTIUnavailable(t *testing.T) {
	for name, c := range map[string]struct {
		path   func(t *testing.T) string
		reason string
	}{
		"no library":      {func(t *testing.T) string { return filepath.Join(t.TempDir(), "absent.so") }, "absent.so"},
		"another library": {func(t *testing.T) string { return buildShared(t, "nvml_stub.c") }, "has no symbol cupti"},
		"too old":         {func(t *testing.T) string { return buildShared(t, "cupti_stub.c", "-DSTUB_VERSION=14") }, "API version 14"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadCUPTIFrom([]string{c.path(t)})
			u, ok := unavailable.As(err)
			if !ok || !strings.Contains(u.Reason, c.reason) || !strings.Contains(u.Remedy, "MAGE_CUPTI") {
				t.Errorf("got %v, want unavailable because of %q", err, c.reason)
			}
		})
	}
}

func TestCUPTITracedFromOutside(t *testing.T) {
	t.Setenv("MAGE_TRACE_FILE", filepath.Join(t.TempDir(), "trace"))
	if u, ok := unavailable.As(func() error { _, err := openTracer(); return err }()); !ok || !strings.Contains(u.Reason, "from outside") {
		t.Errorf("got %v", u)
	}
}

func TestCUPTITooOldIsPassedOver(t *testing.T) {
	old, good := buildShared(t, "cupti_stub.c", "-DSTUB_VERSION=18"), buildShared(t, "cupti_stub.c")
	c, err := loadCUPTIFrom([]string{filepath.Join(t.TempDir(), "absent.so"), old, good})
	if err != nil || c.path != good {
		t.Errorf("loaded %+v, %v; want %s", c, err, good)
	}
}
