package cpu

import (
	"sync"
	"sync/atomic"
)

// pool runs the pieces of a job on a fixed set of goroutines: the caller and
// workers−1 others that wait between jobs. A job allocates nothing.
type pool struct {
	wake  []chan struct{}
	done  sync.WaitGroup
	next  atomic.Int64
	count int64
	work  func(piece int)
}

// newPool starts the goroutines; close ends them.
func newPool(workers int) *pool {
	p := &pool{wake: make([]chan struct{}, workers-1)}
	for i := range p.wake {
		wake := make(chan struct{}, 1)
		p.wake[i] = wake
		go func() {
			for range wake {
				p.help()
				p.done.Done()
			}
		}()
	}
	return p
}

func (p *pool) workers() int { return len(p.wake) + 1 }

// each calls work once for every piece in [0, count), on all workers, and
// returns when all are done. Pieces are handed out as workers become free.
func (p *pool) each(count int, work func(piece int)) {
	helpers := min(len(p.wake), count-1)
	if helpers <= 0 {
		for i := range count {
			work(i)
		}
		return
	}
	p.next.Store(0)
	p.count, p.work = int64(count), work
	p.done.Add(helpers)
	for _, wake := range p.wake[:helpers] {
		wake <- struct{}{}
	}
	p.help()
	p.done.Wait()
	p.work = nil
}

func (p *pool) help() {
	for {
		i := p.next.Add(1) - 1
		if i >= p.count {
			return
		}
		p.work(int(i))
	}
}

func (p *pool) close() {
	for _, wake := range p.wake {
		close(wake)
	}
}

// divide returns the range of piece i when n items are cut into equal pieces.
func divide(n, pieces, i int) (lo, hi int) {
	return int(int64(n) * int64(i) / int64(pieces)), int(int64(n) * int64(i+1) / int64(pieces))
}
