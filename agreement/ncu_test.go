package agreement

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"cuda/first gelu R=3,D=257 normal", map[string]int64{requests + "ld.sum": 50, "smsp__inst_executed.sum": 1234}},
		{"cuda/first matmul M=17,N=19,K=23 normal", map[string]int64{requests + "ld.sum": 64, "smsp__inst_executed.sum": 77, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 3}},
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
	m := Pairs()[0].Metric
	here := []Counted{{"a k s", map[string]int64{m: 5}}, {"b k s", map[string]int64{m: 6}}, {"c k s", map[string]int64{m: 7}}}
	there := []Counted{{"a k s", map[string]int64{m: 5}}, {"b k s", map[string]int64{m: 8}}, {"c k s", nil}, {"d k s", map[string]int64{m: 1}}}
	got := Compare(here, there)
	if len(got) != 1 || got[0].Case != "b k s" || got[0].Here != 6 || got[0].GPU != 8 {
		t.Errorf("%+v", got)
	}
	table := Table(here, there, "a ")
	for _, want := range []string{"| b k | s | 6 ≠ 8 |", "| c k | s | 7 (not counted) |"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	if strings.Contains(table, "| a k ") || strings.Contains(table, "| d k ") {
		t.Errorf("too many rows:\n%s", table)
	}
}
