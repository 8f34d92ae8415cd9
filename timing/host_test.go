package timing

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mage/unavailable"
)

func TestHostModes(t *testing.T) {
	h := NewHost(1 << 20)
	for _, c := range []struct {
		mode  string
		cache Cache
		runs  int // of two samples after one warm-up
		lacks bool
	}{
		{"span", Hot, 3, false}, {"span", Cold, 3, false}, {"latency", Hot, 3, false},
		{"batch:5", Hot, 11, false}, {"batch:5", Cold, 0, true},
		{"submit", Hot, 0, true}, {"graph:5", Hot, 0, true}, {"kernel", Hot, 0, true},
	} {
		runs := 0
		r, err := h.Measure(func() error { runs++; return nil },
			Request{Mode: mode(t, c.mode), Cache: c.cache, Samples: 2, Warmup: 1})
		if _, lacks := unavailable.As(err); lacks != c.lacks {
			t.Errorf("%s %s: %v", c.mode, c.cache, err)
		}
		if runs != c.runs {
			t.Errorf("%s %s: %d runs, want %d", c.mode, c.cache, runs, c.runs)
		}
		if !c.lacks && (len(r.Samples) != 2 || r.Instrument != HostClock) {
			t.Errorf("%s %s: %+v", c.mode, c.cache, r)
		}
	}
}

func TestHostStopsOnErrorAndBudget(t *testing.T) {
	h := NewHost(1 << 20)
	broken := errors.New("broken")
	if _, err := h.Measure(func() error { return broken }, Request{Mode: mode(t, "span"), Cache: Hot, Samples: 2}); !errors.Is(err, broken) {
		t.Errorf("error %v, want the operation's", err)
	}
	// An operation that outlasts the budget is still sampled MinSamples times.
	runs := 0
	r, err := h.Measure(func() error { runs++; time.Sleep(2 * time.Millisecond); return nil },
		Request{Mode: mode(t, "latency"), Cache: Hot, Samples: 1000, MinSamples: 2, BudgetUS: 1})
	if err != nil || len(r.Samples) != 2 || runs != 2 {
		t.Errorf("%d samples, %d runs, %v; want 2, 2", len(r.Samples), runs, err)
	}
	for _, us := range r.Samples {
		if us < 2000 {
			t.Errorf("sample %v µs of an operation that sleeps 2000 µs", us)
		}
	}
}

func TestLongSamplesAreRefused(t *testing.T) {
	s, d := newScript(t)
	for _, c := range []struct {
		mode  string
		once  float64
		wants string // part of the reason; "" where it is measured
	}{
		{"batch:100", 2e4, "100 operations would take about 2 s"},
		{"batch:100", 1e4, ""}, {"span", 2e6, "one operation would take about 2 s"}, {"span", 2e5, ""},
		{"latency", 3e8, "about 300 s"},
	} {
		req := Request{Mode: mode(t, c.mode), Cache: Hot, Samples: 1, OnceUS: c.once, LimitUS: 1e6}
		_, onHost := NewHost(1<<20).Measure(func() error { return nil }, req)
		_, onDevice := d.Measure(s.submit, req)
		for _, err := range []error{onHost, onDevice} {
			u, lacks := unavailable.As(err)
			if lacks != (c.wants != "") || lacks && !strings.Contains(u.Reason, c.wants) {
				t.Errorf("%s of %v µs: %v", c.mode, c.once, err)
			}
		}
	}
	// What a CPU never has is said before what would take too long.
	_, err := NewHost(1<<20).Measure(func() error { return nil }, Request{Mode: mode(t, "graph:100"), OnceUS: 1e9, LimitUS: 1})
	if u, _ := unavailable.As(err); u == nil || !strings.Contains(u.Reason, "no graph replay") {
		t.Errorf("graph on a CPU: %v", err)
	}
}

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Mode{
		"span": {Span, 1}, "batch:100": {Batch, 100}, "graph:1": {Graph, 1}, "kernel": {Kernel, 1},
	} {
		if m, err := ParseMode(text); err != nil || m != want || m.String() != text {
			t.Errorf("%s: %v %v", text, m, err)
		}
	}
	for _, text := range []string{"", "spam", "span:2", "batch", "batch:0", "batch:x", "graph:-1", "graph:99999999"} {
		if m, err := ParseMode(text); err == nil {
			t.Errorf("%q was read as %v", text, m)
		}
	}
}
