package cupti

// trace is what the library wrote for one process. Times are in ns on CUPTI's
// timeline, zero where it could not tell.
type trace struct {
	process int
	program string
	onRange bool   // between cudaProfilerStart and -Stop only
	version uint32 // of CUPTI's API; zero when it was not loaded

	kernels     []kernel
	copies      []copied
	fills       []filled
	calls       []call
	allocations []allocation
	devices     []string
	overheadNS  uint64 // CUPTI's own, as far as it says

	starts   int       // times that tracing began
	lost     uint64    // records that CUPTI dropped
	problems []problem // calls of CUPTI that failed
	torn     bool      // the last line is not whole
	ended    bool      // the end was written: nothing is missing
	settled  bool      // the end may be missing: no work on the GPU followed
	// notReturned counts buffers that CUPTI kept to the end. It may keep empty
	// ones; but if nothing at all came back, records went to somebody else.
	notReturned uint64
}

type span struct{ start, end uint64 }

type place struct{ device, context, stream, correlation uint32 }

type graphNode struct {
	graph uint32
	node  uint64
}

type kernel struct {
	name string // as linked
	span
	place
	grid, block [3]uint32
	registers   uint32
	// Shared memory of a block, local memory of a thread, in bytes.
	static, dynamic, local uint32
	graphNode
}

type copied struct {
	kind, from, to uint32 // CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind
	bytes          uint64
	span
	place
	graphNode
}

type filled struct {
	memory uint32
	bytes  uint64
	span
	place
	graphNode
}

type call struct {
	name string
	span
	thread, correlation, result uint32
}

type allocation struct {
	operation, memory    uint32 // CUpti_ActivityMemoryOperationType, …MemoryKind
	bytes, address, time uint64
	place
}

type problem struct {
	call string
	code uint32
	why  string // the name of the code, or the loader's words
}
