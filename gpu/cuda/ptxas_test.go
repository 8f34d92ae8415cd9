package cuda_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/gpu/cuda"
)

// The three wordings: ptxas of CUDA 13, of CUDA 12, and the driver's compiler.
func TestParsePTXASInfo(t *testing.T) {
	const log = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'new' for 'sm_90'
ptxas info    : Function properties for new
ptxas         .     232 bytes stack frame, 228 bytes spill stores, 224 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 232 bytes cumulative stack size, 400 bytes smem
ptxas info    : Compile time = 17.735 ms
ptxas info    : Compiling entry function 'old' for 'sm_80'
ptxas info    : Function properties for old
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for helper
    99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads
ptxas info    : Used 40 registers, 2048+0 bytes smem, 380 bytes cmem[0], 8 bytes cmem[2]
info    : Compiling entry function 'jit' for 'sm_90'
info    : Used 8 registers, used 0 barriers
`
	want := []cuda.PTXASInfo{
		{Function: "new", Arch: "sm_90", Registers: 32, StackBytes: 232, SpillStores: 228, SpillLoads: 224, SharedBytes: 400, Barriers: 1},
		{Function: "old", Arch: "sm_80", Registers: 40, StackBytes: 8, SpillStores: 4, SpillLoads: 12, SharedBytes: 2048, ConstBytes: 380},
		{Function: "jit", Arch: "sm_90", Registers: 8},
	}
	if diff := cmp.Diff(want, cuda.ParsePTXASInfo(log)); diff != "" {
		t.Error(diff)
	}
	if got := cuda.ParsePTXASInfo("nothing of the kind"); got != nil {
		t.Errorf("read %v out of nothing", got)
	}
}
