package python

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

// arena is memory that this process and a worker share: arrays travel in it. Its
// file has no name, so that it is gone with the last process that has it open.
type arena struct {
	file *os.File
	size int64
	// maps are views of the file from its start, each longer than the one before.
	// An earlier one stays: somebody may still look at an array in it.
	maps [][]byte
}

// place is where an array lies in an arena: an offset and a length, in bytes.
type place [2]int64

func newArena() (*arena, error) {
	f, err := namelessFile()
	if err != nil {
		return nil, fmt.Errorf("memory shared with the Python worker: %w", err)
	}
	return &arena{file: f}, nil
}

// grow makes the arena at least that large. What it held stays.
func (a *arena) grow(size int64) error {
	const step = 1 << 20
	size = (size + step - 1) / step * step
	if size <= a.size {
		return nil
	}
	// Written, not only made longer: a machine without so much memory says so
	// here. A page that is missing later would end the process that touches it.
	zeros := make([]byte, step)
	for at := a.size; at < size; at += step {
		if _, err := a.file.WriteAt(zeros, at); err != nil {
			return fmt.Errorf("sharing %d MiB with the Python worker: %w", size/step, err)
		}
	}
	m, err := unix.Mmap(int(a.file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("sharing %d MiB with the Python worker: %w", size/step, err)
	}
	a.maps, a.size = append(a.maps, m), size
	return nil
}

// at returns the memory of a place.
func (a *arena) at(p place) []byte {
	return a.maps[len(a.maps)-1][p[0] : p[0]+p[1] : p[0]+p[1]]
}

// close gives the memory back. Nobody may look at it any more.
func (a *arena) close() {
	for _, m := range a.maps {
		_ = unix.Munmap(m)
	}
	a.maps = nil
	_ = a.file.Close()
}

// canaries are words that nobody but this process knows. They are put across a
// place before the worker is asked to write there. One that is there after its
// answer says that what lies around it is of an earlier answer.
type canaries struct{ key uint64 }

func newCanaries() canaries { return canaries{rand.Uint64()} }

// across gives the canaries of a place of n bytes and where they lie: at its
// start, at its end, and so close to each other that every copy that the worker
// makes meets one. It copies what is short in pieces of its allocator's, of 512
// bytes and more; what is longer whole, but for guard zones of 4096 bytes.
func (c canaries) across(n int) iter.Seq2[int, [8]byte] {
	stride := 512
	if n > 16<<10 {
		stride = 4096
	}
	return func(yield func(int, [8]byte) bool) {
		last := max(0, n-8)
		for at := 0; n > 0; at = min(at+stride, last) {
			var word [8]byte
			binary.NativeEndian.PutUint64(word[:], c.key+uint64(at)*0x9E3779B97F4A7C15)
			if !yield(at, word) || at == last {
				return
			}
		}
	}
}

func (c canaries) put(data []byte) {
	for at, word := range c.across(len(data)) {
		copy(data[at:], word[:])
	}
}

// alive returns where the first canary is that nobody overwrote, or -1.
func (c canaries) alive(data []byte) int {
	for at, word := range c.across(len(data)) {
		if there := data[at:min(at+8, len(data))]; string(there) == string(word[:len(there)]) {
			return at
		}
	}
	return -1
}
