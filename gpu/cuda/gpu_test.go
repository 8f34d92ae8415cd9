package cuda_test

import (
	_ "embed"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/unavailable"
)

//go:embed testdata/device.ptx
var devicePTX []byte

// openGPU opens the real GPU, or skips the test and says why there is none.
func openGPU(t testing.TB) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if e, ok := unavailable.As(err); ok {
		t.Skip(e)
	}
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func grid(blocks, threads, shared uint32) gpu.Config {
	return gpu.Config{Grid: [3]uint32{blocks, 1, 1}, Block: [3]uint32{threads, 1, 1}, DynamicShared: shared}
}

func deviceFunction(t testing.TB, d *cuda.Device, name string) gpu.Function {
	t.Helper()
	return must(must(d.Load(devicePTX))(t).Function(name))(t)
}

func TestGPUInfo(t *testing.T) {
	i := openGPU(t).Info()
	t.Logf("%+v", i)
	if i.Name == "" || i.Multiprocessors < 1 || i.MemoryBytes < 1<<28 || i.SharedPerBlock < 32<<10 || i.L2Bytes < 1<<18 {
		t.Error("the description is incomplete")
	}
	if i.PeakBandwidth < 1e10 || i.PeakBandwidth > 1e14 {
		t.Errorf("a peak bandwidth of %g bytes/s", i.PeakBandwidth)
	}
}

// TestGPUAxpy launches directly and by graph replay, and compares with the host.
func TestGPUAxpy(t *testing.T) {
	d := openGPU(t)
	const n, a, direct, nodes, replays = 100_003, 0.5, 3, 7, 2
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%17) - 8
	}
	px, py := must(d.Alloc(4*n))(t), must(d.Alloc(4*n))(t)
	check(t, d.Upload(px, bytesOf(x...)))
	check(t, d.Fill(py, 0, 4*n))
	f := deviceFunction(t, d, "axpy")
	l := must(f.Bind(grid((n+255)/256, 256, 0), gpu.Pointer(py), gpu.Pointer(px), gpu.Float32(a), gpu.Int32(n)))(t)
	s := must(d.NewStream())(t)
	for range direct {
		check(t, l.Submit(s))
	}
	g := must(s.Capture(func() error {
		for range nodes {
			if err := l.Submit(s); err != nil {
				return err
			}
		}
		return nil
	}))(t)
	if g.Nodes() != nodes {
		t.Errorf("%d nodes, want %d", g.Nodes(), nodes)
	}
	for range replays {
		check(t, s.Replay(g))
	}
	check(t, s.Synchronize())
	got := make([]byte, 4*n)
	check(t, d.Download(got, py))
	for i, v := range floats(got) {
		if want := a * (direct + nodes*replays) * x[i]; v != want {
			t.Fatalf("y[%d] = %v, want %v", i, v, want)
		}
	}
	attributes := must(f.Attributes())(t)
	t.Logf("%+v\n%s", attributes, cuda.JITLog(must(d.Load(devicePTX))(t)))
	if attributes.Registers == 0 || attributes.MaxThreadsPerBlock < 256 {
		t.Errorf("attributes %+v", attributes)
	}
	if _, err := f.Bind(grid(1, 32, 0), gpu.Pointer(py)); err == nil {
		t.Log("this driver cannot list a function's parameters")
	}
}

func TestGPUDynamicShared(t *testing.T) {
	d := openGPU(t)
	f := deviceFunction(t, d, "reverse")
	bytes := uint32(d.Info().SharedPerBlockOptin)
	const n = 512
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	px, py := must(d.Alloc(4*n))(t), must(d.Alloc(4*n))(t)
	check(t, d.Upload(px, bytesOf(x...)))
	l := must(f.Bind(grid(2, 256, bytes), gpu.Pointer(py), gpu.Pointer(px), gpu.Uint32(bytes/4-256)))(t)
	s := must(d.NewStream())(t)
	check(t, l.Submit(s))
	check(t, s.Synchronize())
	got := make([]byte, 4*n)
	check(t, d.Download(got, py))
	if v := floats(got); v[0] != 255 || v[255] != 0 || v[256] != 511 {
		t.Errorf("not reversed: %v %v %v", v[0], v[255], v[256])
	}
	_, err := f.Bind(grid(1, 256, bytes+1), gpu.Pointer(py), gpu.Pointer(px), gpu.Uint32(0))
	if _, ok := unavailable.As(err); !ok {
		t.Errorf("more shared memory than there is: %v", err)
	}
}

// TestGPUEvents: device time agrees with the cycles that a kernel counts.
func TestGPUEvents(t *testing.T) {
	d := openGPU(t)
	const cycles = 20_000_000
	l := must(deviceFunction(t, d, "spin").Bind(grid(1, 1, 0), gpu.Int64(cycles)))(t)
	s := must(d.NewStream())(t)
	a, b := must(d.NewEvent())(t), must(d.NewEvent())(t)
	check(t, s.Record(a))
	check(t, l.Submit(s))
	check(t, s.Record(b))
	if _, err := b.MicrosecondsSince(a); !errors.Is(err, cuda.ErrNotReady) {
		t.Errorf("an event that has not completed: %v", err)
	}
	start := time.Now()
	check(t, b.Synchronize())
	host := time.Since(start)
	us := must(b.MicrosecondsSince(a))(t)
	mhz := cycles / us
	t.Logf("%d cycles in %.1f us (%.0f MHz); the host waited %v", cycles, us, mhz, host)
	// The clock cannot exceed its maximum; 20 allows for its measurement.
	if mhz > d.Info().MaxSMClockMHz+20 || mhz < 50 {
		t.Errorf("%d cycles in %v us is a clock of %.0f MHz, the maximum is %.0f", cycles, us, mhz, d.Info().MaxSMClockMHz)
	}
}

func TestGPUOutOfMemory(t *testing.T) {
	d := openGPU(t)
	_, err := d.Alloc(1 << 45)
	if !errors.Is(err, cuda.ErrOutOfMemory) || !strings.Contains(err.Error(), "asked for 35184372088832 bytes") {
		t.Errorf("got %v", err)
	}
	t.Log(err)
	p := must(d.Alloc(1 << 20))(t)
	check(t, d.Fill(p, 1, 1<<20))
}

func TestGPURejectedPTX(t *testing.T) {
	d := openGPU(t)
	_, err := d.Load([]byte(".version 99.0\n.target sm_75\n.address_size 64\n"))
	if !errors.Is(err, cuda.ErrUnsupportedPTX) || !strings.Contains(err.Error(), "the PTX is 99.0") {
		t.Errorf("PTX of the future: %v", err)
	}
	t.Log(err)
	_, err = d.Load([]byte(".version 6.3\n.target sm_75\n.address_size 64\nnonsense\n"))
	var e *cuda.DriverError
	if !errors.As(err, &e) || e.Detail == "" {
		t.Errorf("PTX with an error: %v", err)
	}
	t.Log(err)
	if _, err := d.Load([]byte("\x7fELF not a cubin")); err == nil {
		t.Error("loaded a broken cubin")
	}
}

func TestGPUCompiledCubin(t *testing.T) {
	d := openGPU(t)
	n := openNVRTC(t)
	arch := "--gpu-architecture=sm_" + strings.ReplaceAll(d.Info().ComputeCapability, ".", "")
	c := must(n.Compile("light.cu", twoKernels, []string{arch, "--ptxas-options=-v"}))(t)
	f := must(must(d.Load(c.CUBIN))(t).Function("light"))(t)
	p := must(d.Alloc(128))(t)
	s := must(d.NewStream())(t)
	check(t, must(f.Bind(grid(1, 32, 0), gpu.Pointer(p), gpu.Float32(2.5)))(t).Submit(s))
	check(t, s.Synchronize())
	got := make([]byte, 128)
	check(t, d.Download(got, p))
	if v := floats(got); v[0] != 2.5 || v[31] != 2.5 {
		t.Errorf("got %v", v)
	}
	// Two independent reports of the same binary.
	for _, info := range cuda.ParsePTXASInfo(c.Log) {
		a := must(must(must(d.Load(c.CUBIN))(t).Function(info.Function))(t).Attributes())(t)
		if a.Registers != info.Registers || a.StaticSharedBytes != info.SharedBytes {
			t.Errorf("%s: the driver says %+v, ptxas %+v", info.Function, a, info)
		}
	}
}

func TestGPUCaptureFails(t *testing.T) {
	d := openGPU(t)
	s := must(d.NewStream())(t)
	p := must(d.Alloc(64))(t)
	wrong := errors.New("wrong")
	if _, err := s.Capture(func() error { _ = s.FillAsync(p, 1, 64); return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	_, err := s.Capture(s.Synchronize)
	if !errors.Is(err, cuda.ErrCaptureUnsupported) {
		t.Errorf("a wait inside a capture: %v", err)
	}
	_, err = s.Capture(func() error { _, err := d.Alloc(1 << 20); return err })
	t.Logf("an allocation inside a capture: %v", err)
	check(t, s.FillAsync(p, 2, 64)) // nothing is left capturing
	check(t, s.Synchronize())
	got := make([]byte, 64)
	check(t, d.Download(got, p))
	if got[63] != 2 {
		t.Errorf("the stream does not work after a failed capture: %v", got)
	}
}

func TestGPUTwoDevicesInTurn(t *testing.T) {
	openGPU(t)
	for range 3 { // opening nests, and each gives its context back
		d := must(cuda.Open(0))(t)
		must(d.Alloc(1 << 20))(t)
		check(t, d.Close())
	}
}

// TestGPUHotCallsAllocateNothing repeats the check of the stand-in on the driver.
func TestGPUHotCallsAllocateNothing(t *testing.T) {
	d := openGPU(t)
	l := must(deviceFunction(t, d, "spin").Bind(grid(1, 1, 0), gpu.Int64(0)))(t)
	s := must(d.NewStream())(t)
	a, b := must(d.NewEvent())(t), must(d.NewEvent())(t)
	g := must(s.Capture(func() error { return l.Submit(s) }))(t)
	var us float64
	if n := testing.AllocsPerRun(100, func() {
		err := errors.Join(s.Record(a), l.Submit(s), s.Replay(g), s.Record(b), b.Synchronize())
		if err != nil {
			t.Fatal(err)
		}
		us, _ = b.MicrosecondsSince(a)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if us <= 0 || math.IsNaN(us) {
		t.Errorf("%v microseconds", us)
	}
}

func TestGPUState(t *testing.T) {
	d := openGPU(t)
	state, err := d.State()
	if e, ok := unavailable.As(err); ok {
		t.Skip(e)
	}
	check(t, err)
	if state.SMClockMHz == nil {
		t.Errorf("no clock in %+v", state)
	}
}

// TestGPUTrace: CUPTI reports the launches in order, and about the events' time.
func TestGPUTrace(t *testing.T) {
	d := openGPU(t)
	l := must(deviceFunction(t, d, "spin").Bind(grid(2, 32, 0), gpu.Int64(2_000_000)))(t)
	s := must(d.NewStream())(t)
	a, b := must(d.NewEvent())(t), must(d.NewEvent())(t)
	records, err := d.TraceKernels(func() error {
		return errors.Join(s.Record(a), l.Submit(s), s.Record(b), l.Submit(s), s.Synchronize())
	})
	if e, ok := unavailable.As(err); ok {
		t.Skip(e)
	}
	check(t, err)
	if len(records) != 2 {
		t.Fatalf("%d records of 2 launches: %+v", len(records), records)
	}
	r := records[0]
	us := must(b.MicrosecondsSince(a))(t)
	traced := float64(r.EndNS-r.StartNS) / 1000
	t.Logf("events %.1f us, CUPTI %.1f us, %+v", us, traced, r)
	if r.Name != "spin" || r.Grid != [3]uint32{2, 1, 1} || r.Block != [3]uint32{32, 1, 1} {
		t.Errorf("record %+v", r)
	}
	if traced > us+1 || traced < us/2 {
		t.Errorf("CUPTI says %v us, events %v us", traced, us)
	}
}
