package cupti

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/capture"
)

// checkRecords compares what the stand-in for CUPTI made of "device
// launch:_Z3addPfi node memory".
func checkRecords(t *testing.T, r *capture.Result) {
	t.Helper()
	node := uint64(0x300000001)
	launch := func(name, mangled string, start, correlation int64, node *uint64) capture.Kernel {
		return capture.Kernel{
			Name: name, Mangled: mangled, StartNS: &start, DurationUS: ptr(1.5), Device: ptr(0), Context: ptr(1), Stream: ptr(7),
			Grid: capture.Dim{100, 101, 102}, Block: capture.Dim{32, 16, 8}, Registers: ptr(42), StaticShared: ptr(1024),
			DynamicShared: ptr(65536), Local: ptr(16), Correlation: &correlation, GraphNode: node,
		}
	}
	peer := uint64(5)
	want := &capture.Result{
		Device:   "Stand-in GPU",
		Versions: map[string]string{"cupti": "13.0.1"},
		Kernels:  []capture.Kernel{launch("add(float*, int)", "_Z3addPfi", 10000, 1, nil), launch("in_graph", "", 12000, 2, &node)},
		Copies: []capture.Copy{
			{Kind: "HtoD", StartNS: 2000, DurationUS: 0.75, Bytes: 4096, Device: ptr(0), Stream: ptr(7), Source: "pinned", Target: "device", Correlation: ptr(int64(3))},
			{Kind: "PtoP", StartNS: 2800, DurationUS: 0.1, Bytes: 512, Device: ptr(0), Stream: ptr(7), Source: "device", Target: "device", Correlation: ptr(int64(4)), GraphNode: &peer},
			{Kind: "fill", StartNS: 3000, DurationUS: 0.1, Bytes: 256, Device: ptr(0), Stream: ptr(7), Target: "device", Correlation: ptr(int64(5))},
		},
		Allocations: []capture.Allocation{
			{Kind: "allocate", AtNS: 800, Bytes: 1 << 20, Address: "0x7f0000000000", Memory: "device", Device: ptr(0), Stream: ptr(7), Correlation: ptr(int64(6))},
			{Kind: "free", AtNS: 10800, Bytes: 1 << 20, Address: "0x7f0000000000", Memory: "device", Device: ptr(0), Stream: ptr(7), Correlation: ptr(int64(7))},
		},
	}
	for _, name := range []string{"cudaLaunchKernel_v7000", "cuLaunchKernel"} {
		for c := int64(1); c <= 2; c++ {
			call := capture.APICall{Name: name, StartNS: 900, DurationUS: 1, Thread: ptr(int64(77)), Correlation: ptr(c), Result: ptr(0)}
			if name == "cuLaunchKernel" {
				call.StartNS, call.DurationUS = 1000, 0.8
			}
			want.Calls = append(want.Calls, call)
		}
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func ptr[T any](v T) *T { return &v }

// TestAbsurdNames are left as they are, or cut, at once.
func TestAbsurdNames(t *testing.T) {
	long := "_Z1f" + strings.Repeat("P", 300_000) + "i"
	if demangled(long) != long {
		t.Error("a name of 300 kB was read")
	}
	if got := demangled("_Z4geluPfi"); got != "gelu(float*, int)" {
		t.Errorf("%q", got)
	}
	doubling := "_Z1fSt4pairIiiE"
	for _, last := range "0123456789ABCDEFGHIJKLMNOPQRST" { // each a pair of the one before it, twice
		doubling += "S_IS" + string(last) + "_S" + string(last) + "_E"
	}
	if got := demangled(doubling); len(got) > 1<<17 || len(got) < 1<<12 {
		t.Errorf("a name of %d bytes", len(got))
	}
}
