package ceiling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/timing"
	"mage/unavailable"
)

// clockless is a timer for the simulator: it executes what it is given once, and
// says what the test tells it to.
type clockless struct {
	stream   gpu.Stream
	requests []timing.Request
	us       func(call int) float64
	spoil    func() error // after the timed region
}

func (c *clockless) Measure(submit func() error, req timing.Request) (timing.Reading, error) {
	if err := errors.Join(submit(), c.stream.Synchronize()); err != nil {
		return timing.Reading{}, err
	}
	if c.spoil != nil && req.Mode.Kind != timing.Latency {
		if err := c.spoil(); err != nil {
			return timing.Reading{}, err
		}
	}
	c.requests = append(c.requests, req)
	r := timing.Reading{Instrument: timing.CUDAEvent, Operations: req.Mode.N, Launches: 1}
	for i := range req.Samples {
		r.Samples = append(r.Samples, c.us(len(c.requests))*(1+float64(i)/1000))
	}
	return r, nil
}

// few has one shape or two of every ceiling.
func few() sizes {
	s := tiny()
	s.flight, s.threads, s.dramGrids = []int{4}, []int{256}, []int{1}
	return s
}

func measured(t *testing.T, spoil func(*lab) error) *File {
	t.Helper()
	l := simulated(t)
	timer := &clockless{stream: l.stream, us: func(call int) float64 { return 100 - float64(call%5) }}
	if spoil != nil {
		timer.spoil = func() error { return spoil(l) }
	}
	var names []string
	f, err := l.measure(context.Background(), timer, few(), Options{Tool: Tool{Version: "test"},
		Progress: func(name string, left int) { names = append(names, name) }})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("progress named %v", names)
	}
	return f
}

func TestMeasureChoosesTheBestAndConfirmsIt(t *testing.T) {
	f := measured(t, nil)
	if w := f.Failed(); len(w) > 0 {
		t.Error(w)
	}
	for _, c := range f.Ceilings {
		if c.Confirmed == nil {
			t.Errorf("%s: %s", c.Name, c.Reason)
			continue
		}
		if n := len(c.Confirmed.SamplesUS); n != confirmSamples {
			t.Errorf("%s was confirmed with %d samples", c.Name, n)
		}
		for _, p := range c.Sweep {
			if p.Shape == c.Confirmed.Shape && p.Kernel == c.Confirmed.Kernel {
				for _, q := range c.Sweep {
					if q.Median > 0 && c.Unit.better(q.Median, p.Median) {
						t.Errorf("%s: %s is better than what was chosen", c.Name, q.Shape)
					}
				}
			}
		}
		if strings.HasPrefix(c.Name, "tensor-") && !slices.ContainsFunc(c.Sweep, func(p Point) bool { return p.Unavailable != "" }) {
			t.Errorf("%s: wgmma ran on the simulator", c.Name)
		}
	}
	c, ok := f.Find("dram-copy")
	if !ok {
		t.Fatal("no dram-copy")
	}
	p := c.Confirmed
	// The median of the samples is their 16th of 31.
	us := p.SamplesUS[15]
	if want := p.Amount / us * 1e6; p.Median != want || p.Best != p.Amount/p.SamplesUS[0]*1e6 || p.Low >= p.Median || p.High <= p.Median {
		t.Errorf("median %g of %g, best %g, %g to %g", p.Median, want, p.Best, p.Low, p.High)
	}
	l, _ := f.Find("launch-span")
	if l.Confirmed.Median != l.Confirmed.SamplesUS[15] || l.Confirmed.Best != l.Confirmed.SamplesUS[0] {
		t.Errorf("a launch: %+v", l.Confirmed)
	}
}

// spoilCopies overwrites what a copy left behind: the buffer before the counts of
// the check that was before the timing.
func spoilCopies(l *lab) error {
	if n := len(l.owned); n == 4 {
		return l.dev.Fill(l.owned[n-2], 1, 64)
	}
	return nil
}

// TestAWrongResultHasNoTime spoils what the timed region left behind.
func TestAWrongResultHasNoTime(t *testing.T) {
	f := measured(t, spoilCopies)
	c := f.Ceilings[slices.IndexFunc(f.Ceilings, func(c Ceiling) bool { return c.Name == "dram-copy" })]
	if c.Confirmed != nil || !strings.Contains(c.Reason, "result is wrong") || len(c.Sweep[0].SamplesUS) > 0 {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(f.Failed(), func(s string) bool { return strings.HasPrefix(s, "dram-copy (copy_4, ") }) {
		t.Errorf("%v", f.Failed())
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	l := simulated(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.measure(ctx, &clockless{stream: l.stream}, few(), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestModes: rates are of batches that last, launches of their own mode.
func TestModes(t *testing.T) {
	l := simulated(t)
	all := subjects(few())
	for us, want := range map[float64]int{1: 100, 500: 4, 1900: 2, 1e6: 2} {
		timer := &clockless{stream: l.stream, us: func(int) float64 { return us }}
		if _, err := l.point(all[0], all[0].shapes[0], timer, 3); err != nil {
			t.Fatal(err)
		}
		last := timer.requests[len(timer.requests)-1]
		if last.Mode != (timing.Mode{Kind: timing.Batch, N: want}) || last.Samples != 3 || last.Cache != timing.Hot {
			t.Errorf("%g µs: %+v", us, last)
		}
	}
}

func TestFileIsWhatTheSchemaSays(t *testing.T) {
	for _, f := range []*File{measured(t, nil), measured(t, spoilCopies), retained(t)} {
		data, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := jsonschema.UnmarshalJSON(bytes.NewReader(SchemaText()))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("ceilings", text); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("ceilings")
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Error(err)
		}
	}
}

func TestSaveLoadKeep(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := measured(t, nil)
	if _, err := f.Keep(); err == nil {
		t.Error("a device without a UUID has a place")
	}
	f.Device.UUID = "GPU-0"
	if _, err := Kept("GPU-0"); err == nil {
		t.Error("ceilings from nowhere")
	} else if _, ok := unavailable.As(err); !ok {
		t.Error(err)
	}
	for range 2 { // the second time replaces
		if _, err := f.Keep(); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Kept("GPU-0")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f, back); d != "" {
		t.Error(d)
	}
	f.Ceilings[0].Confirmed.Median = -1
	path := filepath.Join(t.TempDir(), "f.json")
	for _, spoil := range []func(){func() {}, func() { f.Schema = 2 }, func() { f.Ceilings = nil }} {
		spoil()
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Error("a spoilt file is read")
		}
	}
	if _, err := DefaultPath("../x"); err == nil {
		t.Error("a UUID names another directory")
	}
}

func TestDoubts(t *testing.T) {
	n := func(i int) *int { return &i }
	if d := doubts(gpu.State{SMClockMHz: n(1980)}, gpu.State{SMClockMHz: n(1900), OtherProcesses: n(0)}); d != nil {
		t.Error(d)
	}
	got := doubts(gpu.State{SMClockMHz: n(1980), Throttle: []string{"sw-power-cap"}}, gpu.State{SMClockMHz: n(1500), Throttle: []string{"sw-power-cap"}, OtherProcesses: n(2)})
	want := []string{"the clock fell from 1980 to 1500 MHz", "throttled: sw-power-cap", "2 other processes on the device"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestCaveats: two multiprocessors at 1 GHz read 256 GB/s of shared memory at best.
func TestCaveats(t *testing.T) {
	f := &File{Device: gpu.Info{Multiprocessors: 2, MaxSMClockMHz: 1000}}
	at := func(name string, u Unit, low, median, high float64) Ceiling {
		return Ceiling{Name: name, Unit: u, Doubts: []string{"doubt"}, Confirmed: &Point{Low: low, Median: median, High: high}}
	}
	for _, c := range []struct {
		c    Ceiling
		want []string // after the doubt
	}{
		{at("shared-read", BytesPerSecond, 249e9, 250e9, 251e9), nil},
		{at("shared-read", BytesPerSecond, 511e9, 512e9, 513e9), []string{"200 % of what the device's attributes promise: the kernel does less than is counted, or they are wrong"}},
		{at("tensor-fp16", FLOPsPerSecond, 832e12, 870e12, 945e12), []string{"the samples spread as under a clock that changes"}},
		{at("launch-span", Microseconds, 4, 5, 7), nil},
		{Ceiling{Name: "dram-read", Doubts: []string{"doubt"}}, nil},
	} {
		if d := cmp.Diff(append([]string{"doubt"}, c.want...), f.Caveats(c.c)); d != "" {
			t.Errorf("%s: %s", c.c.Name, d)
		}
	}
}

func TestText(t *testing.T) {
	for want, x := range map[string]float64{"4.171 TB/s": 4.1712e12, "999.9 GB/s": 999.9e9, "1.000 TB/s": 999.99e9} {
		if got := BytesPerSecond.Text(x); got != want {
			t.Errorf("%g is %q, want %q", x, got, want)
		}
	}
	if got := Microseconds.Text(4.25); got != "4.250 µs" {
		t.Error(got)
	}
}

// full is a device on which somebody else has the memory.
type full struct{ gpu.Device }

func (d full) Alloc(bytes int64) (gpu.Ptr, error) {
	if bytes > 64<<10 {
		return 0, fmt.Errorf("allocating: %w", cuda.ErrOutOfMemory)
	}
	return d.Device.Alloc(bytes)
}

func TestWithoutMemoryTheRestIsMeasured(t *testing.T) {
	l := simulated(t)
	l.dev = full{l.dev}
	f, err := l.measure(context.Background(), &clockless{stream: l.stream, us: func(int) float64 { return 100 }}, few(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Find("dram-copy"); ok || !strings.HasPrefix(f.Ceilings[2].Reason, "allocating: ") {
		t.Errorf("%+v", f.Ceilings[2])
	}
	if _, ok := f.Find("fp32-fma"); !ok || len(f.Failed()) > 0 {
		t.Errorf("%v", f.Failed())
	}
}
