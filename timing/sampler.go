package timing

import (
	"runtime/debug"
	"time"

	"mage/unavailable"
)

// hostClock reads the host's monotonic clock. It is the one place that does.
type hostClock struct{ base time.Time }

func newHostClock() hostClock { return hostClock{time.Now()} }

// now returns nanoseconds since the clock was made.
func (c hostClock) now() int64 { return int64(time.Since(c.base)) }

func microseconds(ns int64) float64 { return float64(ns) / 1e3 }

// sampler collects the samples of one request and decides when there are
// enough. It grows nothing while sampling.
type sampler struct {
	clock   hostClock
	req     Request
	began   int64
	samples []float64
}

func newSampler(clock hostClock, req Request) *sampler {
	return &sampler{clock: clock, req: req, samples: make([]float64, 0, req.Samples)}
}

// start opens the budget; call it after the warm-up.
func (s *sampler) start() { s.began = s.clock.now() }

func (s *sampler) more() bool {
	n := len(s.samples)
	if n >= s.req.Samples {
		return false
	}
	if n < s.req.MinSamples || s.req.BudgetUS <= 0 {
		return true
	}
	return microseconds(s.clock.now()-s.began) < s.req.BudgetUS
}

func (s *sampler) add(us float64) { s.samples = append(s.samples, us) }

// normalise gives a request usable counts: at least one sample.
func normalise(req Request) Request {
	req.Samples = max(req.Samples, 1)
	req.MinSamples = min(max(req.MinSamples, 1), req.Samples)
	return req
}

// withoutCollector runs f with Go's garbage collector held off, so that a
// collection does not land inside a sample. What f leaves is collected after.
func withoutCollector(f func() error) error {
	old := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(old)
	return f()
}

// rejectCold explains why a mode that shares one sample between operations has
// no cold state: only the first of them would be cold.
func rejectCold(m Mode) error {
	return unavailable.Newf(m.String()+" "+string(Cold),
		"the %d operations of one sample follow each other: only the first would find a flushed cache", m.N)
}
