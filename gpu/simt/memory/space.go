package memory

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"
)

const (
	// base is the first address given out. Addresses below 2⁴⁷ look like those of
	// a GPU, and none falls into the windows of the generic address space.
	base = 0x7f00_0000_0000
	// gap separates allocations: nothing is mapped there, so an access that is off
	// by less can never land in a neighbour.
	gap = 256 << 20
	// align is what cuMemAlloc promises.
	align = 256
	// Unwritten fills new memory; nothing may rely on it. Zeros would hide who does.
	Unwritten = 0xCD
)

// Space is the global memory of a device. Allocating and freeing is not safe
// while a launch runs; everything else is.
type Space struct {
	list  []*Allocation // by address
	freed []*Allocation // without their bytes, the latest last
	next  uint64
	limit int64
	used  int64
}

// New makes a memory of limit bytes.
func New(limit int64) *Space { return &Space{next: base, limit: limit} }

// Allocation is memory that was asked for in one piece.
type Allocation struct {
	Base uint64
	Size int64
	Name string // "variable table", "buffer out"; "" for memory that nobody named
	// ReadOnly memory holds constants.
	ReadOnly bool
	Data     []byte

	// Around Data lie margin bytes that the host reaches and no kernel does; whole
	// is all of it.
	margin int64
	whole  []byte

	// written is one byte per byte that says whether it has been written; nil once
	// all have. It is only replaced between launches.
	written []byte
	shadow  []atomic.Pointer[chunk]
}

// ErrNoMemory is what Alloc returns when the limit is reached.
type ErrNoMemory struct{ Asked, Free int64 }

func (e *ErrNoMemory) Error() string {
	return fmt.Sprintf("out of memory: asked for %d bytes, %d are free", e.Asked, e.Free)
}

// Alloc returns memory that holds nothing yet.
func (s *Space) Alloc(size int64) (*Allocation, error) { return s.AllocGuarded(size, 0) }

// AllocGuarded is Alloc with a margin, a multiple of 8 bytes, on either side of size
// bytes. The host reaches it; to a kernel nothing is mapped there.
func (s *Space) AllocGuarded(size, margin int64) (*Allocation, error) {
	if size < 0 || margin < 0 || margin%8 != 0 {
		return nil, fmt.Errorf("allocate %d bytes with margins of %d: the size is negative, or the margin no multiple of 8", size, margin)
	}
	total := size + 2*margin
	if total > s.limit-s.used {
		return nil, &ErrNoMemory{total, s.limit - s.used}
	}
	a := &Allocation{Base: s.next + uint64(margin), Size: size, margin: margin, whole: aligned(total), written: make([]byte, size)}
	a.Data = a.whole[margin : margin+size : margin+size]
	for i := range a.whole {
		a.whole[i] = Unwritten
	}
	s.next = (s.next + uint64(max(total, 1)) + gap + align - 1) &^ (align - 1)
	s.list = append(s.list, a)
	s.used += total
	return a, nil
}

// Start is the first address that the host reaches.
func (a *Allocation) Start() uint64 { return a.Base - uint64(a.margin) }

// aligned returns bytes that atomics of 8 bytes may work on.
func aligned(size int64) []byte {
	words := make([]uint64, size/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:size:size]
}

// maxFreed bounds the memory of what was freed.
const maxFreed = 1024

// Free gives an allocation back, by its first address.
func (s *Space) Free(address uint64) error {
	i := slices.IndexFunc(s.list, func(a *Allocation) bool { return a.Start() == address })
	if i < 0 {
		return fmt.Errorf("free %#x: not an allocation of this device", address)
	}
	a := s.list[i]
	s.list = slices.Delete(s.list, i, i+1)
	s.used -= int64(len(a.whole))
	s.freed = append(s.freed, &Allocation{Base: a.Base, Size: a.Size, Name: a.Name})
	if len(s.freed) > maxFreed {
		s.freed = slices.Delete(s.freed, 0, len(s.freed)-maxFreed)
	}
	return nil
}

// index finds the last allocation that begins at or before an address.
func (s *Space) index(address uint64) (int, bool) {
	i, found := slices.BinarySearchFunc(s.list, address, func(a *Allocation, address uint64) int {
		switch {
		case a.Base < address:
			return -1
		case a.Base > address:
			return 1
		}
		return 0
	})
	if found {
		return i, true
	}
	return i - 1, i > 0
}

// Find returns the allocation that holds the byte at an address, nil for none.
func (s *Space) Find(address uint64) *Allocation {
	if i, ok := s.index(address); ok && address-s.list[i].Base < uint64(s.list[i].Size) {
		return s.list[i]
	}
	return nil
}

// Range returns n bytes at an address for the host. They must lie in one
// allocation, its margins included.
func (s *Space) Range(address uint64, n int64) (*Allocation, []byte, error) {
	if n < 0 {
		return nil, nil, fmt.Errorf("%d bytes: the size is negative", n)
	}
	for _, a := range s.near(address) {
		from := int64(address - a.Start())
		size := int64(len(a.whole))
		if from == size && n == 0 {
			return a, nil, nil
		}
		if from < 0 || from >= size {
			continue
		}
		if n > size-from {
			return nil, nil, fmt.Errorf("%d bytes at %#x pass the end of an allocation of %d bytes", n, address, size)
		}
		return a, a.whole[from : from+n], nil
	}
	return nil, nil, fmt.Errorf("%d bytes at %#x: %s", n, address, s.Describe(address))
}

// near returns the last allocation that begins at or before an address, and the
// next one, whose margin may hold it.
func (s *Space) near(address uint64) []*Allocation {
	i, ok := s.index(address)
	if !ok {
		i = 0
	}
	return s.list[i:min(i+2, len(s.list))]
}

// Describe says where an address lies that no allocation holds.
func (s *Space) Describe(address uint64) string {
	for i := len(s.freed) - 1; i >= 0; i-- {
		if f := s.freed[i]; address >= f.Base && address-f.Base < uint64(f.Size) {
			return fmt.Sprintf("byte %d of an allocation of %d bytes that was freed", address-f.Base, f.Size)
		}
	}
	i, ok := s.index(address)
	past, before := uint64(gap), uint64(gap)
	if ok {
		past = address - s.list[i].Base - uint64(s.list[i].Size)
	}
	if i+1 < len(s.list) {
		before = s.list[i+1].Base - address
	}
	switch {
	case past < gap && past <= before:
		return fmt.Sprintf("%d bytes past the end of %s", past, s.list[i].Describe())
	case before < gap:
		return fmt.Sprintf("%d bytes before the start of %s", before, s.list[i+1].Describe())
	}
	if address < 4096 {
		return "a null pointer"
	}
	return "in no allocation"
}

// Describe names the allocation, with its size.
func (a *Allocation) Describe() string {
	if a.Name != "" {
		return fmt.Sprintf("%s (%d bytes)", a.Name, a.Size)
	}
	return fmt.Sprintf("an allocation of %d bytes at %#x", a.Size, a.Base)
}
