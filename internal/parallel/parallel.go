// Package parallel splits an index range over the processor's cores. It must
// not know what the work is.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls f(lo, hi) for consecutive pieces of [0, n) of at most grain indices
// (the last may be shorter) and returns when all are done. The pieces do not
// depend on the number of cores, so a result that is merged in the order of
// pieces is the same on every machine. f runs on several goroutines at once;
// pieces are handed out as they are finished, so uneven ones balance.
func For(n, grain int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	pieces := (n-1)/grain + 1
	workers := min(runtime.GOMAXPROCS(0), pieces)
	if workers == 1 {
		for lo := 0; lo < n; lo += grain {
			f(lo, min(lo+grain, n))
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				p := int(next.Add(1)) - 1
				if p >= pieces {
					return
				}
				lo := p * grain
				f(lo, min(lo+grain, n))
			}
		})
	}
	wg.Wait()
}
