package timing

import (
	"errors"
	"math"
	"strings"
	"testing"

	"mage/gpu"
	"mage/unavailable"
)

// script is a device whose time advances only by what is submitted to it, and
// which writes down the order of everything that it is asked to do.
type script struct {
	gpu.Device // panics where a test asks for more than it should
	log        []string
	now        float64 // device time, µs
	traced     []gpu.KernelRecord
	cost       float64
	fail       string // the step that returns an error
}

var errScript = errors.New("scripted failure")

func (s *script) do(step string) error {
	s.log = append(s.log, step)
	if step == s.fail {
		return errScript
	}
	return nil
}

func (s *script) Info() gpu.Info               { return gpu.Info{L2Bytes: 1 << 20} }
func (s *script) Alloc(int64) (gpu.Ptr, error) { return 256, nil }
func (s *script) Free(gpu.Ptr) error           { return nil }
func (s *script) NewEvent() (gpu.Event, error) { return &scriptEvent{s: s}, nil }
func (s *script) Synchronize() error           { return s.do("sync") }
func (s *script) Destroy() error               { return nil }
func (s *script) CopyAsync(_, _ gpu.Ptr, _ int64) error {
	s.now += 5
	return s.do("copy")
}
func (s *script) FillAsync(gpu.Ptr, byte, int64) error { return s.do("flush") }
func (s *script) Record(e gpu.Event) error {
	e.(*scriptEvent).at = s.now
	return s.do("record")
}
func (s *script) Capture(f func() error) (gpu.Graph, error) {
	before := len(s.log)
	if err := f(); err != nil {
		return nil, err
	}
	n := len(s.log) - before
	s.log = append(s.log[:before], "capture")
	return &scriptGraph{s: s, n: n}, nil
}
func (s *script) Replay(g gpu.Graph) error {
	s.now += s.cost * float64(g.Nodes())
	return s.do("replay")
}
func (s *script) TraceKernels(f func() error) ([]gpu.KernelRecord, error) {
	s.traced = nil
	err := f()
	return s.traced, err
}
func (s *script) submit() error {
	start := uint64(s.now * 1e3)
	s.now += s.cost
	s.traced = append(s.traced, gpu.KernelRecord{Name: "k", StartNS: start, EndNS: uint64(s.now * 1e3)})
	return s.do("submit")
}

type scriptEvent struct {
	s  *script
	at float64
}

func (e *scriptEvent) Synchronize() error { return e.s.do("wait") }
func (e *scriptEvent) MicrosecondsSince(start gpu.Event) (float64, error) {
	return e.at - start.(*scriptEvent).at, nil
}
func (e *scriptEvent) Destroy() error { return nil }

type scriptGraph struct {
	s *script
	n int
}

func (g *scriptGraph) Nodes() int     { return g.n }
func (g *scriptGraph) Destroy() error { return g.s.do("destroy graph") }

// scriptStream lets one value be device and stream although both have methods
// of the same name.
type scriptStream struct{ *script }

func newScript(t *testing.T) (*script, *Device) {
	t.Helper()
	s := &script{cost: 7}
	d, err := NewDevice(s, scriptStream{s})
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

func mode(t *testing.T, text string) Mode {
	t.Helper()
	m, err := ParseMode(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLaunchOrder(t *testing.T) {
	for _, c := range []struct {
		mode  string
		cache Cache
		want  string // after warm-up, one sample
	}{
		{"span", Hot, "sync record submit record wait"},
		{"span", Cold, "flush sync record submit record wait"},
		{"batch:3", Hot, "sync record submit submit submit record wait"},
		{"graph:3", Hot, "capture replay sync sync record replay record wait destroy graph"},
		{"submit", Hot, "sync submit sync"},
		{"submit", Cold, "flush sync submit sync"},
		{"latency", Hot, "sync submit sync"},
		// The first submission estimates the cost of a sample.
		{"kernel", Cold, "sync submit sync flush sync submit sync"},
	} {
		s, d := newScript(t)
		if _, err := d.Measure(s.submit, Request{Mode: mode(t, c.mode), Cache: c.cache, Samples: 1}); err != nil {
			t.Errorf("%s %s: %v", c.mode, c.cache, err)
			continue
		}
		// The synchronisation that ends the (empty) warm-up comes first.
		if got, want := strings.Join(s.log, " "), "sync "+c.want; got != want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.mode, c.cache, got, want)
		}
	}
}

func TestEveryModeGivesTimePerOperation(t *testing.T) {
	for _, text := range []string{"span", "batch:10", "graph:10", "kernel"} {
		s, d := newScript(t)
		r, err := d.Measure(s.submit, Request{Mode: mode(t, text), Cache: Hot, Samples: 4, Warmup: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Samples) != 4 {
			t.Errorf("%s: %d samples, want 4", text, len(r.Samples))
		}
		for _, us := range r.Samples {
			if math.Abs(us-7) > 1e-9 {
				t.Errorf("%s: sample %v µs, want 7", text, us)
			}
		}
	}
}

func TestGraphKeepsReplaysAndCounts(t *testing.T) {
	s, d := newScript(t)
	r, err := d.Measure(s.submit, Request{Mode: mode(t, "graph:10"), Cache: Hot, Samples: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.Operations != 10 || r.Launches != 1 || len(r.ReplayUS) != 3 {
		t.Errorf("operations %d launches %d replays %d, want 10, 1, 3", r.Operations, r.Launches, len(r.ReplayUS))
	}
}

func TestColdSharedSampleIsUnavailable(t *testing.T) {
	for _, text := range []string{"batch:10", "graph:10"} {
		s, d := newScript(t)
		_, err := d.Measure(s.submit, Request{Mode: mode(t, text), Cache: Cold, Samples: 1})
		if _, ok := unavailable.As(err); !ok {
			t.Errorf("%s cold: %v, want unavailable", text, err)
		}
	}
}

func TestEveryFailingStepIsReported(t *testing.T) {
	for _, text := range []string{"span", "batch:2", "graph:2", "submit", "latency", "kernel"} {
		for _, step := range []string{"sync", "record", "submit", "wait", "replay", "flush"} {
			s, d := newScript(t)
			s.fail = step
			cache := Hot
			if step == "flush" && !strings.Contains(text, ":") {
				cache = Cold
			}
			_, err := d.Measure(s.submit, Request{Mode: mode(t, text), Cache: cache, Samples: 2})
			used := false
			for _, l := range s.log {
				used = used || l == step
			}
			if used && !errors.Is(err, errScript) {
				t.Errorf("%s: %s failed, error %v", text, step, err)
			}
		}
	}
}

func TestSumPerOperation(t *testing.T) {
	rec := func(name string, start, end uint64) gpu.KernelRecord {
		return gpu.KernelRecord{Name: name, StartNS: start, EndNS: end}
	}
	// Two operations of two kernels each, handed over out of order: the cost of an
	// operation is the sum of its kernels, not their average.
	samples, names, err := SumPerOperation([]gpu.KernelRecord{
		rec("b", 2000, 5000), rec("a", 0, 1000), rec("a", 6000, 8000), rec("b", 8000, 12000),
	}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != 2 || samples[0] != 4 || samples[1] != 6 || strings.Join(names, "") != "ab" {
		t.Errorf("samples %v names %v, want [4 6] [a b]", samples, names)
	}
	for what, bad := range map[string][]gpu.KernelRecord{
		"none":       {},
		"odd":        {rec("a", 0, 1), rec("b", 1, 2), rec("a", 3, 4)},
		"other name": {rec("a", 0, 1), rec("c", 2, 3)},
		"negative":   {rec("a", 5, 1), rec("a", 6, 7)},
	} {
		if s, _, err := SumPerOperation(bad, 2); err == nil {
			t.Errorf("%s: accepted as %v", what, s)
		}
	}
}

func TestCalibrateProvesOnlyARealFlush(t *testing.T) {
	s, d := newScript(t)
	c, err := d.Calibrate()
	if err != nil {
		t.Fatal(err)
	}
	// On the scripted device a copy always takes 5 µs: there is nothing to prove.
	if c.FlushProved || c.ReadHotUS != 5 || c.ReadColdUS != 5 {
		t.Errorf("proved %v, hot %v, cold %v", c.FlushProved, c.ReadHotUS, c.ReadColdUS)
	}
	if c.EventOverheadUS == nil || *c.EventOverheadUS != 0 || c.EventResolutionUS != nil {
		t.Errorf("event overhead %v resolution %v, want 0 and unknown", c.EventOverheadUS, c.EventResolutionUS)
	}
	_ = s
	for _, p := range []struct {
		cold          float64
		pairs, slower int
		want          bool
	}{
		{1.2, 15, 15, true}, {1.2, 15, 13, true}, {1.2, 15, 12, false}, {1.04, 15, 15, false},
		{0.8, 15, 15, false}, {1.2, 5, 5, true}, {1.2, 5, 4, false}, {1.2, 4, 4, false},
	} {
		var hot, cold []float64
		for i := range p.pairs {
			hot, cold = append(hot, 1), append(cold, 1)
			if i < p.slower {
				cold[i] = p.cold
			}
		}
		if c.setProof(1, hot, cold); c.FlushProved != p.want {
			t.Errorf("%v× in %d of %d pairs: proved %v", p.cold, p.slower, p.pairs, c.FlushProved)
		}
	}
}
