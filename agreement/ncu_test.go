package agreement

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/gpu/simt"
)

// printed is what ncu --csv --page raw prints, shortened to few columns.
const printed = `==PROF== Connected to process 12
==WARNING== Note: Running with unmodified GPU clocks.
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","smsp__inst_executed.sum","l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
"","","","","","","","","","","","","inst",""
"0","12","record","127.0.0.1","gelu","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","50","1,234","n/a"
"1","12","record","127.0.0.1","matmul(float const*)","1","7","(16, 16, 1)","(4, 1, 1)","0","9.0","64","77.000000","3"
`

func launched() []Output {
	return []Output{
		{Case: "cuda/first gelu R=3,D=257 normal", Entry: "gelu", Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{256, 1, 1}},
		{Case: "cuda/first matmul M=17,N=19,K=23 normal", Entry: "matmul", Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{16, 16, 1}},
	}
}

func TestReadNsight(t *testing.T) {
	got, err := ReadNsight([]byte(printed), launched())
	if err != nil {
		t.Fatal(err)
	}
	want := []Counted{
		{Case: "cuda/first gelu R=3,D=257 normal", Metrics: map[string]int64{requests + "ld.sum": 50, "smsp__inst_executed.sum": 1234}},
		{Case: "cuda/first matmul M=17,N=19,K=23 normal", Metrics: map[string]int64{requests + "ld.sum": 64, "smsp__inst_executed.sum": 77, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 3}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var b bytes.Buffer
	if err := WriteCounted(&b, got); err != nil {
		t.Fatal(err)
	}
	back, err := ReadCounted(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, back); d != "" {
		t.Error(d)
	}

	wrong := launched()
	wrong[1].Grid[0] = 5
	for want, try := range map[string]func() error{
		"launch 1 is matmul (4, 1, 1) (16, 16, 1) for Nsight Compute, and matmul 5x1x1": func() error { _, err := ReadNsight([]byte(printed), wrong); return err },
		"2 launches, 1 were recorded":   func() error { _, err := ReadNsight([]byte(printed), launched()[:1]); return err },
		"no line begins with \"ID\"":    func() error { _, err := ReadNsight([]byte("==ERROR=="), nil); return err },
		"the first column must be case": func() error { _, err := ReadCounted(strings.NewReader("a,b\n")); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestCompare(t *testing.T) {
	counters := simt.Counters{GlobalLoads: simt.Traffic{Requests: 5, Sectors: 20}, AsyncCopies: simt.Traffic{Requests: 1, Sectors: 4},
		SharedLoads: simt.Banks{Requests: 8, Wavefronts: 12, Ideal: 8}}
	// The GPU loads as often; it merges shared loads; 3 wavefronts waited for others.
	g := Counted{Case: "a k M=1", Metrics: map[string]int64{requests + "ld.sum": 6, sectors + "ld.sum": 25, executed + "global_ld.sum": 5, executed + "ldgsts.sum": 1,
		executed + "shared_ld.sum": 2, byInstruction + "ld.sum": 6, atDataStage + "ld.sum": 9, conflicts + "ld.sum": 7, machine: 99}}
	got := Compare(counters, g)
	if len(got) != 3 || got[0].Pair.Name != "load sectors" || got[0].Here != 24 || got[0].GPU != 25 || got[0].Compiled ||
		got[1].Pair.Name != "shared load wavefronts" || got[1].GPU != 6 || !got[1].Compiled || got[2].Pair.Name != "shared load groups" {
		t.Errorf("%+v", got)
	}
	want := `| kernel | shape | load requests | load sectors | shared load wavefronts | shared load groups | shared load conflicts | instructions of PTX | of the machine |
| :-- | :-- | --: | --: | --: | --: | --: | --: | --: |
| a k | M=1 | 6 | 24 ≠ 25 | 12 ≠ 6 ¹ | 8 ≠ 2 ¹ | 4 | 0 | 99 |
`
	if got := Table([]Row{{g.Case, counters, g}}); got != want {
		t.Error(cmp.Diff(want, got))
	}

	// What ldmatrix does is counted at the data stage alone.
	g.LoadsMatrices, g.Metrics[sectors+"ld.sum"], g.Metrics[atDataStage+"ld.sum"] = true, 24, 15
	if got := Compare(counters, g); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := Table([]Row{{g.Case, counters, g}}); !strings.Contains(got, "| 12 ² | 8 | 4 ² |") {
		t.Error(got)
	}
}
