package ceiling

import "mage/gpu"

// sizes say how much the kernels are given.
type sizes struct {
	multiprocessors int
	dram            []int64 // bytes of a buffer, before rounding to whole tiles
	dramGrids       []int   // blocks of 256 threads per multiprocessor; 0: a block per tile
	l2              int64   // bytes that all buffers of a shape may take
	threads         []int   // threads per block
	flight          []int   // vectors in flight per thread: 4 and 8 exist
	resident        int     // threads of a multiprocessor
	traffic         int64   // bytes that one launch moves in the caches
	sharedPasses    int
	steps32         int
	steps64         int
	products        int // a multiple of 16
}

// The L2 may serve as much of a stream as it holds: at most one part in 32, or 64.
const (
	leastOverL2 = 32
	unknownL2   = 64 << 20
)

// sizesFor suits a device: streams far larger than its L2, and launches of about a
// millisecond.
func sizesFor(info gpu.Info) sizes {
	l2 := info.L2Bytes
	if l2 <= 0 {
		l2 = unknownL2
	}
	s := sizes{
		multiprocessors: max(info.Multiprocessors, 1),
		dramGrids:       []int{0, 8},
		l2:              l2 / 2,
		threads:         []int{256, 512},
		flight:          []int{4, 8},
		resident:        2048,
		traffic:         4 << 30,
		sharedPasses:    1024,
		steps32:         16384,
		steps64:         4096,
		products:        4096,
	}
	least := int64(1 << 20)
	for least < leastOverL2*l2 {
		least *= 2
	}
	// Three buffers of the larger size take three eighths of the memory at most, and
	// an index of vectors has 32 bits.
	for _, n := range []int64{least, 2 * least} {
		if n <= min(info.MemoryBytes/8, 1<<35) {
			s.dram = append(s.dram, n)
		}
	}
	if len(s.dram) == 0 && info.MemoryBytes > 0 {
		s.dram = []int64{info.MemoryBytes / 8}
	}
	return s
}
