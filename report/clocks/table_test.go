package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/evidence"
	"mage/report/internal/synthetic"
)

// session is a record in which the truth of every reading is known.
func session() *evidence.Run {
	b := synthetic.New(3, 5)
	b.Common = 0
	c := b.Gelu(4096, 768)
	arm := b.Arm("cuda/first", "driver", "cuda:0")
	other := b.Arm("cuda/vector", "driver", "cuda:0")
	for mode, us := range map[string]float64{"graph:50": 8.5, "kernel": 9, "batch:50": 9.5, "span": 13} {
		b.Add(synthetic.Cell{Case: c, Arm: arm, Mode: mode, Cache: "hot", US: us, Operations: 1},
			synthetic.Cell{Case: c, Arm: other, Mode: mode, Cache: "hot", US: 99, Operations: 1},
			synthetic.Cell{Case: c, Arm: arm, Mode: mode, Cache: "cold", US: 99, Operations: 1})
	}
	b.Disturb = map[int]string{2: "throttled"}
	run := b.Run()
	us := 9.25
	run.Captures = []evidence.Capture{{Case: c, Arm: arm, Backend: "cupti", KernelUS: &us}, {Case: c, Arm: arm, Backend: "nsys", KernelUS: new(99.0)}, {Case: c, Arm: arm, Backend: "ncu"}}
	return run
}

func TestTable(t *testing.T) {
	found := rows([]*evidence.Run{session()}, "cuda/first@driver")
	if len(found) != 1 || !math.IsNaN(found[0].readings[3]) || math.Abs(found[0].spread()-0.75) > 1e-9 || found[0].tolerance() != toleranceUS {
		t.Fatalf("%+v", found)
	}
	want := "| gelu R=4096,D=768 | 8.50 | 9.00 | 9.25 | – | 9.50 | 13.00 | 0.75 |\n"
	if got := table(found); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if rows([]*evidence.Run{session()}, "cuda/third@driver") != nil {
		t.Error("an arm that is not there has rows")
	}
}

func TestTolerance(t *testing.T) {
	r := row{readings: [len(columns)]float64{100, 102, math.NaN(), 101, 300, 400}}
	if r.spread() != 2 || math.Abs(r.tolerance()-3.06) > 1e-9 {
		t.Errorf("a spread of %g, a tolerance of %g", r.spread(), r.tolerance())
	}
}

// TestDocumentation derives the table of the guide again from each session that is
// retained, and holds it to the tolerance that the guide states.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/profiling.md")
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if claimed := strings.Contains(string(text), "| kernel, µs |"); claimed != (len(sessions) > 0) {
		t.Errorf("the guide has a table: %v; sessions retained: %d", claimed, len(sessions))
	}
	for _, dir := range sessions {
		records, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := load("cuda/first@driver", records)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), table(found)) {
			t.Errorf("docs/profiling.md does not hold what %s says:\n%s", dir, table(found))
		}
		for _, r := range found {
			if r.spread() > r.tolerance() {
				t.Errorf("%s: the instruments differ by %.2f µs, more than %.2f", r.name, r.spread(), r.tolerance())
			}
		}
	}
}
