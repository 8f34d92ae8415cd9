package cuda

import (
	"encoding/binary"
	"fmt"

	"mage/gpu"
)

// A kernel activity record as CUPTI lays it out. NVIDIA extends the packed
// structure with every major change (CUpti_ActivityKernel9 in CUDA 12.0 to 12.9,
// 10 in 13.0, 13 in 13.5) by appending: the fields below have not moved since
// CUpti_ActivityKernel9, which testdata/cupti_offsets.c proves against a header.
const (
	kernelRecordBytes = 208 // of CUpti_ActivityKernel9, the shortest understood

	offKind          = 0
	offRegisters     = 6
	offStart         = 16
	offEnd           = 24
	offGrid          = 52
	offBlock         = 64
	offStaticShared  = 76
	offDynamicShared = 80
	offLocal         = 84
	offCorrelation   = 92
	offName          = 104
	offGraphNode     = 144

	activityConcurrentKernel = 10
	activityKernel           = 3
)

// oldestCUPTI is the API version of the oldest CUPTI that was tried and works
// (CUDA 12.4). The layout is older, but CUPTI of CUDA 12.0, which its API version
// does not tell from that of 12.1, hangs in the flush after a traced graph.
const oldestCUPTI = 22

// isKernel says whether a record starting with these bytes is a kernel's.
func isKernel(record []byte) bool {
	if len(record) < 4 {
		return false
	}
	kind := binary.LittleEndian.Uint32(record[offKind:])
	return kind == activityConcurrentKernel || kind == activityKernel
}

// parseKernel reads one kernel record. The name is the value of the record's
// pointer, which only the caller may follow. A record without both times is an
// error: CUPTI writes zero when it could not collect them, and a kernel's time
// is never taken as zero.
func parseKernel(record []byte) (k gpu.KernelRecord, name uintptr, err error) {
	if len(record) < kernelRecordBytes {
		return k, 0, fmt.Errorf("kernel record of %d bytes, want at least %d", len(record), kernelRecordBytes)
	}
	le := binary.LittleEndian
	u32 := func(off int) uint32 { return le.Uint32(record[off:]) }
	triple := func(off int) [3]uint32 { return [3]uint32{u32(off), u32(off + 4), u32(off + 8)} }
	k = gpu.KernelRecord{
		StartNS:            le.Uint64(record[offStart:]),
		EndNS:              le.Uint64(record[offEnd:]),
		Grid:               triple(offGrid),
		Block:              triple(offBlock),
		Registers:          int(le.Uint16(record[offRegisters:])),
		StaticSharedBytes:  int(int32(u32(offStaticShared))),
		DynamicSharedBytes: int(int32(u32(offDynamicShared))),
		LocalBytes:         int(u32(offLocal)),
		Correlation:        u32(offCorrelation),
		GraphNode:          le.Uint64(record[offGraphNode:]),
	}
	name = uintptr(le.Uint64(record[offName:]))
	switch {
	case k.StartNS == 0 || k.EndNS == 0:
		return k, name, fmt.Errorf("kernel of correlation %d has no timestamps (start %d, end %d ns)", k.Correlation, k.StartNS, k.EndNS)
	case k.EndNS < k.StartNS:
		return k, name, fmt.Errorf("kernel of correlation %d ends %d ns before it starts", k.Correlation, k.StartNS-k.EndNS)
	}
	return k, name, nil
}
