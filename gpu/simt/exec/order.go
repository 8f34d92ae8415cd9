package exec

import (
	"sync"

	"mage/gpu/simt/memory"
)

// releases remembers which blocks made their work known through which words of
// memory: a fence followed by an atomic or another strong access, as in reductions
// that the last block finishes. A block that later accesses the word by an atomic
// or a strong load has acquired from those before it. This trusts more than the
// memory model grants (a released block's later accesses count as released too),
// so it misses races but invents none.
type releases struct {
	mu    sync.Mutex
	words map[uint64]map[uint32]int // by address: blocks in order of release
}

// acquired are the words that a block acquired from, with how many blocks had
// released there.
type acquired struct {
	words map[uint64]int
}

// strongAccess is called for each atomic, and each strong load and store.
func (b *block) strongAccess(address uint64, load, acquire, store, release bool) {
	r := &b.run.releases
	r.mu.Lock()
	defer r.mu.Unlock()
	released := r.words[address]
	if load && (acquire || len(released) > 0) && len(released) > 0 {
		if b.synced.words == nil {
			b.synced.words = map[uint64]int{}
		}
		b.synced.words[address] = len(released)
	}
	if !store || !release && !b.fenced {
		return
	}
	if r.words == nil {
		r.words = map[uint64]map[uint32]int{}
	}
	if released == nil {
		released = map[uint32]int{}
		r.words[address] = released
	}
	if _, ok := released[b.access.Block]; !ok {
		released[b.access.Block] = len(released)
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
