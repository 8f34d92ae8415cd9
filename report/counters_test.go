package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/verdict"
	"mage/report"
	"mage/report/internal/synthetic"
)

// counted is what a made-up kernel costs, n times over.
func counted(n int64) *verdict.Counters {
	c := verdict.Counters{Launches: 1, Lanes: 30 * n, Branches: n, Divergent: n / 8,
		GlobalLoads:  verdict.Traffic{Requests: n, Sectors: 8 * n, Ideal: 4 * n, Bytes: 128 * n},
		GlobalStores: verdict.Traffic{Requests: n / 2, Sectors: 2 * n, Ideal: 2 * n, Bytes: 64 * n},
		AsyncCopies:  verdict.Traffic{Requests: n, Sectors: 4 * n, Ideal: 4 * n, Bytes: 128 * n},
		SharedLoads:  verdict.Banks{Requests: n, Wavefronts: 5 * n, Ideal: n, Bytes: 128 * n},
		SharedStores: verdict.Banks{Requests: n, Wavefronts: n, Ideal: n, Bytes: 128 * n},
		BytesRead:    256 * n, BytesWritten: 64 * n, FLOPs32: 640 * n, FLOPsMatrix: 320 * n}
	c.Instructions[0] = n
	return &c
}

// simulated is a record of two kernels on the simulator, one of them faulty, beside
// a timed CPU; the kernels are not measured in any mode.
func simulated(timed bool) *evidence.Run {
	b := synthetic.New(5, 5)
	b.Record.Plan.Baseline = []string{"cpu/naive"}
	b.Record.Devices[1] = evidence.Device{ID: "simt:0", Info: gpu.Info{Backend: "simt", Name: "SIMT simulator", ComputeCapability: "9.0"}}
	gelu, large := b.Gelu(3, 257), b.Gelu(4096, 768)
	if timed {
		cpu := b.Arm("cpu/naive", "go", "cpu")
		for _, c := range []string{gelu, large} {
			b.Entry(c, cpu, "", 0)
			b.Add(synthetic.Cell{Case: c, Arm: cpu, Mode: "span", Cache: "hot", Instrument: "host-clock", US: 70, Noise: 0.01, Operations: 1})
		}
	}
	first, faulty := b.Arm("cuda/first", "driver", "simt:0"), b.Arm("mine/faulty", "driver", "simt:0")
	for i, c := range []string{gelu, large} {
		for _, arm := range []string{first, faulty} {
			e := b.Entry(c, arm, strings.Repeat("1a", 32), 0)
			e.Counters = counted(1000 << (10 * i))
			e.Unavailable = []evidence.Unavailable{{What: "times on simt:0", Reason: "the simulator measures no time"}}
			if arm == faulty && c == gelu {
				e.Error = "checks: gelu: out-of-bounds access"
				e.Gates = append(e.Gates, gate.Result{Stage: "checks", Failure: "gelu: out-of-bounds access"})
				e.Findings = []verdict.Finding{{Kind: "out-of-bounds", Kernel: "gelu", File: "gelu.ptx", Line: 53, Instruction: "ld.global.f32",
					Source: "gelu.cu:9", Block: [3]uint32{3, 0, 0}, Thread: [3]uint32{255, 0, 0}, Space: "global", Address: 0x7f0030004b0c,
					Bytes: 4, Detail: "0 bytes past the end of buffer a (3084 bytes)", Count: 12}}
			}
		}
	}
	return b.Run()
}

func TestGoldenCounters(t *testing.T) {
	for _, c := range []struct {
		file   string
		timed  bool
		format report.Format
		tables []string
		width  int
	}{
		{"counters.txt", true, report.TableFormat, nil, 0},
		{"counters-90.txt", false, report.TableFormat, []string{"counters", "findings"}, 90},
		{"counters-overview.txt", true, report.TableFormat, []string{"overview"}, 0},
		{"counters.md", false, report.Markdown, nil, 0},
		{"counters.tex", false, report.LaTeX, []string{"counters"}, 0},
		{"counters.csv", false, report.CSV, nil, 0},
		{"counters.json", false, report.JSON, nil, 0},
		{"counters.bench", true, report.BenchmarkLines, nil, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := build(t, simulated(c.timed)).Render(&got, c.format, report.RenderOptions{Tables: c.tables, Width: c.width}); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, got.Bytes())
		})
	}
}

// What is derived from counters is worked out here once more, by hand.
func TestDerivedCounters(t *testing.T) {
	r := build(t, simulated(false))
	if len(r.Counters) != 4 {
		t.Fatalf("%d rows", len(r.Counters))
	}
	c := r.Counters[0]
	if c.LoadSectors != 12_000 || *c.LoadsOverIdeal != 1.5 || *c.StoresOverIdeal != 1 || c.BankConflicts != 4000 ||
		c.SharedWavefronts != 6000 || c.ActiveLanes != 0.9375 || c.FLOPs != 960_000 || c.BytesTouched != 320_000 || c.Intensity != 3 {
		t.Errorf("%+v", c)
	}
	if c.Failed != "" || r.Counters[1].Failed == "" || len(r.Findings) != 1 || r.Findings[0].Arm != "mine/faulty@driver" {
		t.Error("the faulty arm is not the one that failed")
	}
}

// TestCountersAppearOnlyWhereTheyExist: a record of times says nothing of them, in
// no format.
func TestCountersAppearOnlyWhereTheyExist(t *testing.T) {
	r := build(t, laboratory().Run())
	for _, f := range report.Formats() {
		if out := render(t, r, report.Format(f), report.RenderOptions{}); strings.Contains(strings.ToLower(out), "counters") {
			t.Errorf("%s speaks of counters", f)
		}
	}
	if out := render(t, r, report.CSV, report.RenderOptions{Tables: []string{"counters", "findings"}}); out != "" {
		t.Errorf("CSV has %q", out)
	}
}

// A resumed case is executed again; the last session's counters stand.
func TestTheLastSessionsCountersStand(t *testing.T) {
	run := simulated(false)
	again := run.Record.Entries[0]
	again.Session, again.Counters = 2, counted(7)
	run.Record.Entries = append(run.Record.Entries, again)
	r := build(t, run)
	if len(r.Counters) != 4 || r.Counters[0].WarpInstructions != 7 {
		t.Errorf("%d rows, the first %+v", len(r.Counters), r.Counters[0])
	}
}

func TestOnlyKeepsTheCountersOfItsCases(t *testing.T) {
	r, err := build(t, simulated(false)).Only("4096")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Counters) != 2 || len(r.Findings) != 0 {
		t.Errorf("%d counters, %d findings", len(r.Counters), len(r.Findings))
	}
	if out := render(t, r, report.TableFormat, report.RenderOptions{}); strings.Contains(out, "3×257") || !strings.Contains(out, "Counted exactly") {
		t.Error(out)
	}
}

// Every counter of the table is in the CSV at full precision, and both read back.
func TestCountersReadBack(t *testing.T) {
	r := build(t, simulated(false))
	rows, err := csv.NewReader(strings.NewReader(render(t, r, report.CSV, report.RenderOptions{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "load_sectors")
	if len(rows) != 5 || column < 0 || rows[3][column] != "12288000" {
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	var got report.Report
	if err := json.Unmarshal([]byte(render(t, r, report.JSON, report.RenderOptions{})), &got); err != nil {
		t.Fatal(err)
	}
	if *got.Counters[2].Counters != *r.Counters[2].Counters || got.Findings[0].Address != r.Findings[0].Address {
		t.Errorf("%+v", got.Counters[2])
	}
}

// Two counted arms have no times to compare, and are told why.
func TestComparingCountedArmsSaysWhatThereIs(t *testing.T) {
	c, err := report.CompareArms(simulated(false), "cuda/first", "mine/faulty", report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Compared != 0 || len(c.Notes) < 2 || !strings.Contains(c.Notes[0], "cuda/first was counted on simt:0, not timed") {
		t.Errorf("%d compared, notes %q", c.Compared, c.Notes)
	}
}
