package cpu

import (
	"sync"

	"mage/gpu"
)

// stateReader reads the condition of the processor. It remembers the last
// processor times, because stolen time is a difference.
type stateReader struct {
	mu   sync.Mutex
	last processorTimes
	ok   bool
}

// processorTimes are ticks of all processors since boot.
type processorTimes struct{ stolen, total uint64 }

func newStateReader() *stateReader {
	r := &stateReader{}
	r.last, r.ok = readProcessorTimes()
	return r
}

// read leaves nil what the operating system does not offer.
func (r *stateReader) read() (gpu.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return gpu.State{
		HostLoad:    readLoad(),
		Preemptions: readPreemptions(),
		StealPct:    r.stolen(readProcessorTimes()),
	}, nil
}

// stolen returns the share of the ticks since the last reading that the
// hypervisor took, in percent. Within one tick nothing can be said.
func (r *stateReader) stolen(now processorTimes, ok bool) *float64 {
	last, had := r.last, r.ok
	r.last, r.ok = now, ok
	if !ok || !had || now.total <= last.total || now.stolen < last.stolen {
		return nil
	}
	pct := 100 * float64(now.stolen-last.stolen) / float64(now.total-last.total)
	return &pct
}
