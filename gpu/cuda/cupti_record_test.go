package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseKernelTooShort(t *testing.T) {
	record := make([]byte, kernelRecordBytes)
	record[offKind], record[offStart], record[offEnd] = activityConcurrentKernel, 1, 1
	if k, _, err := parseKernel(record); err != nil || k.StartNS != 1 {
		t.Errorf("a whole record: %+v, %v", k, err)
	}
	for n := range record {
		if _, _, err := parseKernel(record[:n]); err == nil {
			t.Fatalf("%d bytes parsed as a record", n)
		}
		isKernel(record[:n]) // must not panic
	}
}

func FuzzParseKernel(f *testing.F) {
	f.Add(make([]byte, kernelRecordBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, _, err := parseKernel(b)
		if err == nil && (k.StartNS == 0 || k.EndNS < k.StartNS) {
			t.Errorf("accepted %+v", k)
		}
	})
}

// TestKernelRecordOffsets compares the layout with that of a real header, by the
// C compiler's own arithmetic.
func TestKernelRecordOffsets(t *testing.T) {
	include := os.Getenv("MAGE_CUDA_INCLUDE")
	if include == "" {
		t.Skip("MAGE_CUDA_INCLUDE names no folder of CUDA headers (several: separated by ':')")
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	want := map[string]int{
		"kind": offKind, "registersPerThread": offRegisters, "start": offStart, "end": offEnd,
		"gridX": offGrid, "gridY": offGrid + 4, "gridZ": offGrid + 8,
		"blockX": offBlock, "blockY": offBlock + 4, "blockZ": offBlock + 8,
		"staticSharedMemory": offStaticShared, "dynamicSharedMemory": offDynamicShared,
		"localMemoryPerThread": offLocal, "correlationId": offCorrelation,
		"name": offName, "graphNodeId": offGraphNode,
	}
	var args []string
	for _, dir := range filepath.SplitList(include) {
		args = append(args, "-I", dir)
	}
	compared := 0
	for record := 9; record <= 20; record++ {
		program := filepath.Join(t.TempDir(), "offsets")
		build := append(args, fmt.Sprintf("-DRECORD=CUpti_ActivityKernel%d", record), "-o", program, "testdata/cupti_offsets.c")
		if out, err := exec.Command(gcc, build...).CombinedOutput(); err != nil {
			if strings.Contains(string(out), "CUpti_ActivityKernel") {
				continue // this header has no such record
			}
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		compared++
		for line := range strings.Lines(string(out)) {
			var field string
			var offset, size int
			if _, err := fmt.Sscan(line, &field, &offset, &size); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if field == "record" && size < kernelRecordBytes {
				t.Errorf("CUpti_ActivityKernel%d has %d bytes, less than %d", record, size, kernelRecordBytes)
			}
			if w, ok := want[field]; ok && w != offset {
				t.Errorf("CUpti_ActivityKernel%d.%s is at %d, not %d", record, field, offset, w)
			}
		}
	}
	if compared == 0 {
		t.Error("the headers define no kernel record that is understood")
	}
	t.Logf("compared %d versions of the record", compared)
}
