package python

import (
	"time"

	"mage/impl"
)

var _ impl.Profiled = (*operation)(nil)

// Profile performs the operation n times in the range of an external profiler
// around the worker. A profiler that replays kernels takes far longer than they.
func (o *operation) Profile(n int) error {
	o.judged = nil
	o.worker.profiled = true
	return o.do(request{Do: "profile", measurement: &measurement{N: n}}, 10*time.Minute, "profiling", nil)
}
