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
	s := gpu.State{HostLoad: readLoad(), Preemptions: readPreemptions()}
	now, ok := readProcessorTimes()
	// Within one tick nothing can be said.
	if ok && r.ok && now.total > r.last.total && now.stolen >= r.last.stolen {
		pct := 100 * float64(now.stolen-r.last.stolen) / float64(now.total-r.last.total)
		s.StealPct = &pct
	}
	r.last, r.ok = now, ok
	return s, nil
}
