package main

import (
	"fmt"
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
	if len(found) != 1 || !math.IsNaN(found[0].readings[3]) || math.Abs(found[0].spread(ncu)-0.75) > 1e-9 || found[0].tolerance(ncu) != toleranceUS || found[0].judge() == nil {
		t.Fatalf("%+v", found)
	}
	want := "| gelu R=4096,D=768 | 8.50 | 9.00 | 9.25 | – | 9.50 | 13.00 | 0.75 | 0.75 |\n"
	if got := table(found); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if rows([]*evidence.Run{session()}, "cuda/third@driver") != nil {
		t.Error("an arm that is not there has rows")
	}
}

func TestTolerance(t *testing.T) {
	none := math.NaN()
	for name, c := range map[string]struct {
		readings  [ofKernel]float64
		says      string
		tolerance float64
	}{
		"long, and within 3 %":    {[ofKernel]float64{100, 102, none, 101}, "", 3.06},
		"long, and beyond":        {[ofKernel]float64{100, 103.2, none, 101}, "graph replay and CUPTI differ by 3.20 µs", 3.096},
		"short, and within":       {[ofKernel]float64{8.7, 9.1, 9.2, 10.5}, "", 2},
		"ncu beyond":              {[ofKernel]float64{8.7, 9.1, 9.2, 10.8}, "graph replay, CUPTI and ncu differ by 2.10 µs", 2},
		"CUPTI beyond, ncu alike": {[ofKernel]float64{8.7, 9.1, 9.5, 9}, "graph replay and CUPTI differ by 0.80 µs", 2},
		"ncu alone":               {[ofKernel]float64{none, none, none, 9}, "", 2},
	} {
		r := row{readings: [len(columns)]float64{c.readings[0], c.readings[1], c.readings[2], c.readings[3], 300, 400}}
		err := r.judge()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
		if math.Abs(r.tolerance(ofKernel)-c.tolerance) > 1e-9 {
			t.Errorf("%s: a tolerance of %g, want %g", name, r.tolerance(ofKernel), c.tolerance)
		}
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
	for _, stated := range []string{fmt.Sprintf("%g µs", toleranceUS), fmt.Sprintf("%d µs", withNCUUS), fmt.Sprintf("%d %%", tolerancePct)} {
		if _, text, _ := strings.Cut(string(text), "## Why times differ"); !strings.Contains(text, stated) {
			t.Errorf("the guide does not state the tolerance of %s", stated)
		}
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
			if err := r.judge(); err != nil {
				t.Error(err)
			}
		}
	}
}
