package cuda

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/google/go-cmp/cmp"

	"mage/gpu"
	"mage/unavailable"
)

const stubUUID = "GPU-11111111-2222-3333-4444-555555555555"

// buildShared compiles a C file of testdata into a shared library.
func buildShared(t *testing.T, source string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) to build the stub library with")
	}
	lib := filepath.Join(t.TempDir(), "lib"+strings.TrimSuffix(source, ".c")+".so")
	args := append([]string{"-shared", "-fPIC", "-O1", "-Wall", "-o", lib}, flags...)
	args = append(args, filepath.Join("testdata", source), "-lpthread")
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", source, err, out)
	}
	return lib
}

func ptr[T any](v T) *T { return &v }

func TestNVMLReadings(t *testing.T) {
	lib := buildShared(t, "nvml_stub.c")
	d, err := openNVMLFrom([]string{lib}, stubUUID)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	got, err := d.state()
	if err != nil {
		t.Fatal(err)
	}
	want := gpu.State{
		SMClockMHz:     ptr(1755),
		MemoryClockMHz: ptr(3201),
		TemperatureC:   ptr(41),
		PowerW:         ptr(123.456),
		UtilisationPct: ptr(87),
		Throttle:       []string{"sw-power-cap", "hw-thermal"},
		OtherProcesses: ptr(2),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if v := d.driverVersion(); v != "580.10.01" {
		t.Errorf("driver version %q", v)
	}
	if u := d.uuid(); u != stubUUID {
		t.Errorf("UUID %q", u)
	}
	if mhz, ok := d.maxSMClockMHz(); !ok || mhz != 1980 {
		t.Errorf("maximal SM clock %d, %v", mhz, ok)
	}
	if diff := cmp.Diff(ptr(700.0), d.powerLimitW()); diff != "" {
		t.Error("power limit:", diff)
	}
	if diff := cmp.Diff(ptr(true), d.persistenceMode()); diff != "" {
		t.Error("persistence mode:", diff)
	}
}

func TestNVMLReadingsAreOptional(t *testing.T) {
	for _, flag := range []string{"-DSTUB_LACKS", "-DSTUB_UNSUPPORTED"} {
		t.Run(flag, func(t *testing.T) {
			d, err := openNVMLFrom([]string{buildShared(t, "nvml_stub.c", flag)}, stubUUID)
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			got, err := d.state()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(gpu.State{}, got); diff != "" {
				t.Errorf("a reading was made up (-want +got):\n%s", diff)
			}
			if _, ok := d.maxSMClockMHz(); ok || d.driverVersion() != "" || d.uuid() != "" || d.powerLimitW() != nil || d.persistenceMode() != nil {
				t.Error("a constant was made up")
			}
		})
	}
}

func TestNVMLUnavailable(t *testing.T) {
	for name, c := range map[string]struct {
		lib    func(t *testing.T) string
		uuid   string
		reason string
	}{
		"no library":      {func(t *testing.T) string { return filepath.Join(t.TempDir(), "absent.so") }, stubUUID, "absent.so"},
		"no driver":       {func(t *testing.T) string { return buildShared(t, "nvml_stub.c", "-DSTUB_NO_DRIVER") }, stubUUID, "Driver Not Loaded (9)"},
		"another device":  {func(t *testing.T) string { return buildShared(t, "nvml_stub.c") }, "GPU-0", "no device GPU-0: Not Found (6)"},
		"another library": {func(t *testing.T) string { return buildShared(t, "cupti_stub.c") }, stubUUID, "lacks nvmlInit_v2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openNVMLFrom([]string{c.lib(t)}, c.uuid)
			u, ok := unavailable.As(err)
			if !ok || !strings.Contains(u.Reason, c.reason) {
				t.Errorf("got %v, want unavailable because of %q", err, c.reason)
			}
		})
	}
}

func TestNVMLCloseReleasesOnce(t *testing.T) {
	lib := buildShared(t, "nvml_stub.c")
	var users func() int32
	handle, err := purego.Dlopen(lib, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	purego.RegisterLibFunc(&users, handle, "stub_users")
	if _, err := openNVMLFrom([]string{lib}, "GPU-0"); err == nil || users() != 0 {
		t.Errorf("a failed open left %d users (%v)", users(), err)
	}
	a, errA := openNVMLFrom([]string{lib}, stubUUID)
	b, errB := openNVMLFrom([]string{lib}, stubUUID)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	defer b.close()
	a.close()
	a.close()
	if users() != 1 {
		t.Errorf("%d users after one of two closed, want 1", users())
	}
	if _, err := a.state(); err == nil {
		t.Error("a closed device gave a state")
	}
	if s, err := b.state(); err != nil || s.SMClockMHz == nil {
		t.Errorf("the other one broke: %+v, %v", s, err)
	}
}

func TestThrottleNames(t *testing.T) {
	for mask, want := range map[uint64][]string{
		0:       {},
		0x1:     {}, // idle
		0x3:     {}, // idle, at a clock the user set
		0x4:     {"sw-power-cap"},
		0xe9:    {"hw-slowdown", "sw-thermal", "hw-thermal", "hw-power-brake"},
		0x110:   {"sync-boost", "display-clock"},
		0x10004: {"sw-power-cap", "unknown-0x10000"},
	} {
		if diff := cmp.Diff(want, throttleNames(mask)); diff != "" {
			t.Errorf("mask %#x (-want +got):\n%s", mask, diff)
		}
	}
}

func TestCountOthers(t *testing.T) {
	p := func(pids ...uint32) []nvmlProcess {
		var l []nvmlProcess
		for _, pid := range pids {
			l = append(l, nvmlProcess{pid: pid})
		}
		return l
	}
	for _, c := range []struct {
		name  string
		procs []nvmlProcess
		want  *int
	}{
		{"alone", p(7), ptr(0)},
		{"one other", p(9, 7), ptr(1)},
		{"twice in the list", p(7, 9, 7, 9), ptr(1)},
		{"hidden from us", p(), nil},
		{"numbered by another namespace", p(1007), nil},
	} {
		if diff := cmp.Diff(c.want, countOthers(c.procs, 7)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestNVMLProcessLayout(t *testing.T) {
	// nvmlProcessInfo_v2_t: u32, padding, u64, u32, u32.
	var p nvmlProcess
	if unsafe.Sizeof(p) != 24 || unsafe.Offsetof(p.usedBytes) != 8 {
		t.Errorf("size %d, used bytes at %d", unsafe.Sizeof(p), unsafe.Offsetof(p.usedBytes))
	}
}
