package exec

import (
	"sync"
	"sync/atomic"

	"mage/gpu/simt/memory"
)

// releases remembers which blocks made their work known through which words of
// memory: a fence followed by an atomic or another strong access, as in reductions
// that the last block finishes. A block that later accesses the word by an atomic
// or a strong load has acquired from those before it. This trusts more than the
// memory model grants (a released block's later accesses count as released too),
// so it misses races but invents none.
type releases struct {
	some  atomic.Bool // words has any
	mu    sync.Mutex
	words map[uint64]map[uint32]int // by address: blocks in order of release
}

// acquired are the words that a block acquired from, with how many blocks had
// released there.
type acquired struct {
	words map[uint64]int
}

// publish is called before an atomic or a strong store makes its value visible.
func (b *block) publish(address uint64, release bool) {
	if !release && !b.fenced {
		return
	}
	r := &b.run.releases
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == nil {
		r.words = map[uint64]map[uint32]int{}
		r.some.Store(true)
	}
	released := r.words[address]
	if released == nil {
		released = map[uint32]int{}
		r.words[address] = released
	}
	if _, ok := released[b.access.Block]; !ok {
		released[b.access.Block] = len(released)
	}
}

// acquire is called after an atomic or a strong load has read: whoever wrote what it
// read had released before.
func (b *block) acquire(address uint64) {
	r := &b.run.releases
	if !r.some.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.words[address]); n > 0 {
		if b.synced.words == nil {
			b.synced.words = map[uint64]int{}
		}
		b.synced.words[address] = n
	}
}

// ordered reports whether this block has acquired from another.
func (b *block) ordered(other uint32) bool {
	if len(b.synced.words) == 0 {
		return false
	}
	if other == memory.Several {
		return true
	}
	r := &b.run.releases
	r.mu.Lock()
	defer r.mu.Unlock()
	for address, n := range b.synced.words {
		if at, ok := r.words[address][other]; ok && at < n {
			return true
		}
	}
	return false
}
