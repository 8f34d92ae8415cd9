package timing

import (
	"fmt"
	"runtime/debug"
	"strconv"
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

// rejectLong explains why a mode is not measured when one sample of it would
// take longer than the request allows.
func rejectLong(req Request) error {
	us := req.OnceUS * float64(req.Mode.N)
	if req.LimitUS <= 0 || us <= req.LimitUS {
		return nil
	}
	operations := "one operation"
	if req.Mode.N > 1 {
		operations = strconv.Itoa(req.Mode.N) + " operations"
	}
	// One digit: the estimate is no better, and arms that differ by less say the same.
	seconds, _ := strconv.ParseFloat(strconv.FormatFloat(us/1e6, 'g', 1, 64), 64)
	return unavailable.New(req.Mode.String(),
		fmt.Sprintf("a sample of %s would take about %g s, over the limit of %g s", operations, seconds, req.LimitUS/1e6),
		"raise max_sample in the spec, or lower the count")
}
