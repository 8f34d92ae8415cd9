package exec

import (
	"errors"
	"sync/atomic"
	"time"
)

// ErrStopped is why a launch ended that Watch.Stop ended.
var ErrStopped = errors.New("stopped")

// Watch is how other goroutines follow launches and end them: a simulated kernel may
// take minutes. All its methods may be called at any time; nil watches nothing.
type Watch struct {
	stopped atomic.Bool
	running atomic.Pointer[running]
}

// Progress is how far a launch has come.
type Progress struct {
	Kernel       string
	Blocks, Done uint64
	Instructions int64 // of warps, in all blocks
	Since        time.Time
}

// Stop ends the launch that runs and every later one, within milliseconds.
func (w *Watch) Stop() { w.stopped.Store(true) }

// Progress returns that of the launch that runs, false between launches.
func (w *Watch) Progress() (Progress, bool) {
	r := w.running.Load()
	if r == nil {
		return Progress{}, false
	}
	return Progress{r.launch.Program.Name, r.blocks, r.done.Load(), r.executed.Load(), r.since}, true
}

func (w *Watch) begin(r *running) {
	if w != nil {
		w.running.Store(r)
	}
}

func (w *Watch) end() {
	if w != nil {
		w.running.Store(nil)
	}
}

// ends says whether block n shall go no further: the launch was stopped, or a lower
// block failed. Blocks below that one go on, so that the error is that of the lowest
// block on any number of cores.
func (r *running) ends(n uint64) bool {
	return n > r.failed.Load() || r.launch.Watch != nil && r.launch.Watch.stopped.Load()
}
