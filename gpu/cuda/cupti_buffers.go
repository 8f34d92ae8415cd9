package cuda

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// One buffer holds about 5000 kernel records. CUPTI keeps one in hand per thread
// that launches, so a larger one would only be more memory.
const (
	cuptiBufferBytes = 1 << 20
	cuptiSpareMost   = 8 // buffers kept for the next trace
)

// cuptiBuffers lends memory to CUPTI and collects it when it is filled. CUPTI
// calls requested and completed from threads of its own, at any moment, so they
// only move buffers between lists: parsing waits for the trace's own goroutine.
// The memory is mapped, not Go's: CUPTI keeps pointers into it between calls.
type cuptiBuffers struct {
	mu     sync.Mutex
	lent   map[unsafe.Pointer][]byte
	spare  [][]byte
	filled []cuptiFilled
}

type cuptiFilled struct {
	memory []byte // whole, to be lent again
	valid  int    // bytes that hold records
}

// requested is CUpti_BuffersCallbackRequestFunc. Without memory it lends none:
// CUPTI then drops records and counts them, which the trace reports.
func (b *cuptiBuffers) requested(buffer *unsafe.Pointer, size, maxRecords *uintptr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*buffer, *size, *maxRecords = nil, 0, 0
	var memory []byte
	if n := len(b.spare); n > 0 {
		memory, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		var err error
		memory, err = unix.Mmap(-1, 0, cuptiBufferBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return
		}
	}
	if b.lent == nil {
		b.lent = make(map[unsafe.Pointer][]byte)
	}
	p := unsafe.Pointer(&memory[0])
	b.lent[p] = memory
	*buffer, *size = p, uintptr(len(memory))
}

// completed is CUpti_BuffersCallbackCompleteFunc.
func (b *cuptiBuffers) completed(context uintptr, stream uint32, buffer unsafe.Pointer, size, valid uintptr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	memory, ok := b.lent[buffer]
	if !ok {
		return // not ours: nothing of it may be touched
	}
	delete(b.lent, buffer)
	if valid > uintptr(len(memory)) {
		valid = uintptr(len(memory))
	}
	b.filled = append(b.filled, cuptiFilled{memory, int(valid)})
}

// take hands over the filled buffers; giveBack returns them after parsing.
func (b *cuptiBuffers) take() []cuptiFilled {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.filled
	b.filled = nil
	return f
}

func (b *cuptiBuffers) giveBack(filled []cuptiFilled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range filled {
		if len(b.spare) < cuptiSpareMost {
			b.spare = append(b.spare, f.memory)
			continue
		}
		// A failure would only leave the memory mapped.
		_ = unix.Munmap(f.memory)
	}
}

// reclaim takes back everything when CUPTI is gone: buffers that were never
// delivered, and deliveries that nobody read.
func (b *cuptiBuffers) reclaim() {
	rest := b.take()
	b.mu.Lock()
	for _, memory := range b.lent {
		rest = append(rest, cuptiFilled{memory: memory})
	}
	clear(b.lent)
	b.mu.Unlock()
	b.giveBack(rest)
}
