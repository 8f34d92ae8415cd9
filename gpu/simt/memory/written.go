package memory

import "bytes"

// MarkWritten notes that the host or a copy wrote n bytes from an offset on.
func (a *Allocation) MarkWritten(from, n int64) {
	if a.written == nil {
		return
	}
	end := min(from+n, a.Size) // what lies in a margin is the host's alone
	if from = max(from, 0); end <= from {
		return
	}
	if n = end - from; n == a.Size {
		a.written = nil
		return
	}
	w := a.written[from : from+n]
	for i := range w {
		w[i] = 1
	}
}

// MarkUnwritten notes that whatever lies in n bytes from an offset on was put there by
// nobody who matters.
func (a *Allocation) MarkUnwritten(from, n int64) {
	end := min(from+n, a.Size)
	if from = max(from, 0); end <= from {
		return
	}
	if a.written == nil {
		a.written = bytes.Repeat([]byte{1}, int(a.Size))
	}
	clear(a.written[from:end])
}

// Settle forgets the marks of an allocation that is written all over. Call it
// between launches.
func (a *Allocation) Settle() {
	if a.written != nil && bytes.IndexByte(a.written, 0) < 0 {
		a.written = nil
	}
}

// All returns the allocations, by address.
func (s *Space) All() []*Allocation { return s.list }

// Unwritten reports whether any of n bytes has not been written.
func (a *Allocation) Unwritten(from, n int64) bool {
	return a.written != nil && bytes.IndexByte(a.written[from:from+n], 0) >= 0
}

// Written marks n bytes that a kernel wrote. Blocks that write different bytes may
// call it at the same time.
func (a *Allocation) Written(from, n int64) {
	if a.written == nil {
		return
	}
	for i := from; i < from+n; i++ {
		a.written[i] = 1
	}
}

// CopyWritten makes n bytes of a as written as those of src are.
func (a *Allocation) CopyWritten(to int64, src *Allocation, from, n int64) {
	skip := max(0, -to, -from) // margins
	to, from, n = to+skip, from+skip, min(n-skip, a.Size-to-skip, src.Size-from-skip)
	if n <= 0 {
		return
	}
	switch {
	case src.written == nil:
		a.MarkWritten(to, n)
	case a.written == nil:
		a.written = bytes.Repeat([]byte{1}, int(a.Size))
		fallthrough
	default:
		copy(a.written[to:to+n], src.written[from:from+n])
	}
}

// AllWritten reports whether the allocation is known to be written all over.
func (a *Allocation) AllWritten() bool { return a.written == nil }
