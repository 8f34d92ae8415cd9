package cuda_test

import (
	"encoding/binary"
	"math"
	"testing"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
)

// openStub opens a stand-in driver of the test's own.
func openStub(t testing.TB, defines ...string) (*cuda.Device, *cudatest.Control) {
	t.Helper()
	path := cudatest.BuildStub(t, defines...)
	control := cudatest.NewControl(t, path)
	d, err := cuda.Options{DriverPath: path}.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, control
}

// kernel binds a stub kernel with 1 block of 32 threads.
func kernel(t testing.TB, d *cuda.Device, name string, args ...gpu.Arg) gpu.Launch {
	t.Helper()
	m := must(d.Load([]byte(cudatest.KernelsPTX)))(t)
	f := must(m.Function(name))(t)
	return must(f.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}, args...))(t)
}

// must fails the test on an error: must(f())(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func bytesOf(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestMemory(t *testing.T) {
	d, _ := openStub(t)
	p := must(d.Alloc(64))(t)
	check(t, d.Fill(p, 0x11, 64))
	check(t, d.Upload(p+16, []byte{1, 2, 3, 4}))
	got := make([]byte, 24)
	check(t, d.Download(got, p+8))
	for i, want := range [24]byte{8: 1, 9: 2, 10: 3, 11: 4} {
		if want == 0 {
			want = 0x11
		}
		if got[i] != want {
			t.Errorf("byte %d is %#x, want %#x", i, got[i], want)
		}
	}
	empty, other := must(d.Alloc(0))(t), must(d.Alloc(0))(t)
	if empty == 0 || empty == other {
		t.Errorf("empty allocations %#x and %#x are not distinct", empty, other)
	}
	if err := d.Free(p + 8); err == nil {
		t.Error("freed an address inside an allocation")
	}
	check(t, d.Free(p))
	if err := d.Free(p); err == nil {
		t.Error("freed twice")
	}
	if _, err := d.Alloc(-1); err == nil {
		t.Error("allocated a negative size")
	}
}

func TestLaunch(t *testing.T) {
	d, _ := openStub(t)
	out, in := must(d.Alloc(16))(t), must(d.Alloc(16))(t)
	check(t, d.Upload(in, bytesOf(1, 2, 3, 4)))
	s := must(d.NewStream())(t)
	fill := kernel(t, d, "stub_fill", gpu.Pointer(out), gpu.Float32(2.5), gpu.Uint32(4))
	add := kernel(t, d, "stub_add", gpu.Pointer(out), gpu.Pointer(in), gpu.Uint32(4))
	check(t, fill.Submit(s))
	check(t, add.Submit(s))
	check(t, s.Synchronize())
	got := make([]byte, 16)
	check(t, d.Download(got, out))
	if f := floats(got); f[0] != 3.5 || f[3] != 6.5 {
		t.Errorf("got %v, want 2.5 + (1 2 3 4)", f)
	}
	check(t, s.FillAsync(out, 0, 16))
	check(t, s.CopyAsync(out, in, 8))
	check(t, s.Synchronize())
	check(t, d.Download(got, out))
	if f := floats(got); f[0] != 1 || f[1] != 2 || f[2] != 0 {
		t.Errorf("after a fill and a copy of half: %v, want 1 2 0 0", f)
	}
}

func TestGraph(t *testing.T) {
	d, control := openStub(t)
	out, in := must(d.Alloc(16))(t), must(d.Alloc(16))(t)
	check(t, d.Fill(out, 0, 16))
	check(t, d.Upload(in, bytesOf(1, 1, 1, 1)))
	s := must(d.NewStream())(t)
	add := kernel(t, d, "stub_add", gpu.Pointer(out), gpu.Pointer(in), gpu.Uint32(4))
	g := must(s.Capture(func() error {
		for range 5 {
			if err := add.Submit(s); err != nil {
				return err
			}
		}
		return nil
	}))(t)
	if g.Nodes() != 5 {
		t.Errorf("%d nodes, want 5", g.Nodes())
	}
	got := make([]byte, 16)
	check(t, d.Download(got, out))
	if f := floats(got); f[0] != 0 {
		t.Errorf("capturing ran the kernel: %v", f)
	}
	check(t, s.Replay(g))
	check(t, s.Replay(g))
	check(t, s.Synchronize())
	check(t, d.Download(got, out))
	if f := floats(got); f[0] != 10 {
		t.Errorf("after two replays of five additions: %v, want 10", f)
	}
	if n := control.Live(cudatest.Template); n != 0 {
		t.Errorf("%d captured graphs are alive after instantiation", n)
	}
	check(t, g.Destroy())
	if err := s.Replay(g); err == nil {
		t.Error("replayed a destroyed graph")
	}
}

func TestEvents(t *testing.T) {
	d, _ := openStub(t)
	s := must(d.NewStream())(t)
	first, last := must(d.NewEvent())(t), must(d.NewEvent())(t)
	check(t, s.Record(first))
	check(t, s.Record(last))
	check(t, last.Synchronize())
	if us := must(last.MicrosecondsSince(first))(t); us < 0 || us > 1e6 {
		t.Errorf("%v microseconds between two events", us)
	}
	if _, err := first.MicrosecondsSince(nil); err == nil {
		t.Error("measured from no event")
	}
}

func TestAttributes(t *testing.T) {
	d, _ := openStub(t)
	m := must(d.Load([]byte(cudatest.KernelsPTX)))(t)
	a := must(must(m.Function("stub_gelu"))(t).Attributes())(t)
	if a.Registers != 16 || a.StaticSharedBytes != 1024 || a.MaxThreadsPerBlock != 1024 || a.BinaryVersion != 90 {
		t.Errorf("attributes %+v", a)
	}
	if log := cuda.JITLog(m); log == "" {
		t.Error("the compiler's log is lost")
	}
	check(t, m.Unload())
	if _, err := m.Function("stub_gelu"); err == nil {
		t.Error("found a function in an unloaded module")
	}
}

func TestInfo(t *testing.T) {
	d, _ := openStub(t)
	i := d.Info()
	if i.Backend != "cuda" || i.Name != "Stub GPU" || i.ComputeCapability != "9.0" || i.CUDAVersion != "13.0" {
		t.Errorf("info %+v", i)
	}
	if i.UUID != "GPU-00112233-4455-6677-8899-aabbccddeeff" {
		t.Errorf("UUID %s", i.UUID)
	}
	// 500 MHz, two transfers per clock, 16 bytes wide.
	if i.PeakBandwidth != 16e9 {
		t.Errorf("peak bandwidth %g, want 16e9", i.PeakBandwidth)
	}
	// 4 multiprocessors of 128 FMAs at 1 GHz, two operations each.
	if i.PeakFP32 != 1.024e12 {
		t.Errorf("peak fp32 %g, want 1.024e12", i.PeakFP32)
	}
}

func TestProfiler(t *testing.T) {
	d, control := openStub(t)
	check(t, d.ProfilerStart())
	check(t, d.ProfilerStop())
	if control.Calls("cuProfilerStart") != 1 || control.Calls("cuProfilerStop") != 1 {
		t.Error("the profiler was not told")
	}
}
