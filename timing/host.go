package timing

import (
	"sort"

	"mage/unavailable"
)

// Host measures operations that run on the CPU when they are called, with the
// host clock. A plain call has no queue and no events: span and latency are the
// same interval there, and submit, graph and kernel do not exist.
type Host struct {
	clock      hostClock
	flushBytes int64
	flush      []byte // nil until it is needed: it may be a gigabyte
}

// NewHost returns a Host that flushes the cache by writing twice lastLevel
// bytes; 0 assumes 64 MiB.
func NewHost(lastLevel int64) *Host {
	if lastLevel <= 0 {
		lastLevel = 64 << 20
	}
	// The cap keeps a machine that reports the sum of many sockets usable.
	return &Host{clock: newHostClock(), flushBytes: min(2*lastLevel, 1<<30)}
}

// Measure returns samples of run, which must perform one operation completely.
func (h *Host) Measure(run func() error, req Request) (Reading, error) {
	req = normalise(req)
	n := 1
	switch req.Mode.Kind {
	case Span, Latency:
	case Batch:
		n = req.Mode.N
		if req.Cache == Cold {
			return Reading{}, rejectCold(req.Mode)
		}
	case Submit:
		return Reading{}, unavailable.Newf("submit on cpu", "a Go call runs when it is made: there is no submission apart from execution")
	case Graph:
		return Reading{}, unavailable.Newf(req.Mode.String()+" on cpu", "a CPU has no graph replay")
	case Kernel:
		return Reading{}, unavailable.Newf("kernel on cpu", "a CPU implementation launches no device kernels")
	}
	if err := rejectLong(req); err != nil {
		return Reading{}, err
	}
	s := newSampler(h.clock, req)
	err := withoutCollector(func() error {
		for range req.Warmup {
			if err := run(); err != nil {
				return err
			}
		}
		s.start()
		for s.more() {
			if req.Cache == Cold {
				h.flushCache()
			}
			t0 := h.clock.now()
			for range n {
				if err := run(); err != nil {
					return err
				}
			}
			s.add(microseconds(h.clock.now()-t0) / float64(n))
		}
		return nil
	})
	return Reading{Instrument: HostClock, Samples: s.samples, Operations: n}, err
}

// flushCache writes every line of the flush buffer, which evicts what the
// caches held. The value changes so that the stores cannot be elided.
func (h *Host) flushCache() {
	if h.flush == nil {
		h.flush = make([]byte, h.flushBytes)
	}
	v := h.flush[0] + 1
	for i := 0; i < len(h.flush); i += 64 {
		h.flush[i] = v
	}
}

// Calibrate measures what the host clock resolves and proves the flush.
func (h *Host) Calibrate() Calibration {
	c := Calibration{FlushBytes: h.flushBytes}
	c.ClockOverheadUS, c.ClockResolutionUS = clockLimits(h.clock)

	// The proof reads a block small enough to stay cached, hot and then flushed.
	block := make([]byte, min(h.flushBytes/16, 4<<20))
	for i := range block {
		block[i] = byte(i)
	}
	var sink byte
	read := func() float64 {
		t0 := h.clock.now()
		for i := 0; i < len(block); i += 64 {
			sink ^= block[i]
		}
		return microseconds(h.clock.now() - t0)
	}
	var hot, cold []float64
	began := h.clock.now()
	for i := range proofRepeats {
		// Flushing hundreds of megabytes takes a tenth of a second each time.
		if i >= leastRepeats && h.clock.now()-began > int64(proofTime) {
			break
		}
		read()
		hot = append(hot, read())
		h.flushCache()
		cold = append(cold, read())
	}
	h.flush[0] = sink
	c.setProof(int64(len(block)), hot, cold)
	return c
}

// clockLimits returns the median cost of a reading and the smallest step that
// two different readings showed, both in microseconds.
func clockLimits(clock hostClock) (overhead, resolution float64) {
	const n = 2001
	costs := make([]float64, 0, n)
	resolution = 0
	last := clock.now()
	for range n {
		t := clock.now()
		d := microseconds(t - last)
		last = t
		costs = append(costs, d)
		if d > 0 && (resolution == 0 || d < resolution) {
			resolution = d
		}
	}
	return median(costs), resolution
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := append([]float64(nil), v...)
	sort.Float64s(s)
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
