package ceilings

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"mage/ceiling"
	"mage/gpu"
	"mage/report"
)

var update = flag.Bool("update", false, "write the table into docs/ceilings.md")

const page, retained = "../../docs/ceilings.md", "../../ceiling/testdata/h200.json"

// TestGuideShowsTheRetainedCeilings: the table of the guide is that of the file, between
// "<!-- ceilings h200 -->" and "<!-- end -->".
func TestGuideShowsTheRetainedCeilings(t *testing.T) {
	f, err := ceiling.Load(retained)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.RenderTables(&b, []report.Table{Table(f)}, report.Markdown, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`(?s)(<!-- ceilings h200 -->\n)(.*?)(<!-- end -->)`)
	if *update {
		text = quoted.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${3}"))
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := quoted.FindSubmatch(text)
	if m == nil || string(m[2]) != b.String() {
		t.Errorf("the guide does not show %s as it is (go test ./report/ceilings -update):\n%s", retained, b.String())
	}
}

func TestTable(t *testing.T) {
	n := func(i int) *int { return &i }
	f := &ceiling.File{Measured: time.Date(2026, 9, 10, 9, 0, 0, 0, time.UTC), Device: gpu.Info{Name: "Made-up GPU", DriverVersion: "1.2", PeakBandwidth: 4e12},
		Ceilings: []ceiling.Ceiling{
			{Name: "dram-read", Unit: ceiling.BytesPerSecond, Doubts: []string{"hot"}, Before: gpu.State{SMClockMHz: n(1980), TemperatureC: n(40)}, After: gpu.State{SMClockMHz: n(1980), TemperatureC: n(45)},
				Confirmed: &ceiling.Point{Kernel: "read_4", Shape: "4 blocks", Median: 3e12, Low: 2.99e12, High: 3.01e12, Best: 3.02e12, CacheShare: 0.015}},
			{Name: "dram-copy", Unit: ceiling.BytesPerSecond, Doubts: []string{"hot"}, Confirmed: &ceiling.Point{Kernel: "copy_4", Shape: "4 blocks", Median: 5e12, Low: 5e12, High: 5e12, Best: 5e12}},
			{Name: "launch-span", Unit: ceiling.Microseconds, Counts: "one empty kernel", Confirmed: &ceiling.Point{Kernel: "empty", Median: 5, Low: 4, High: 6, Best: 3.9}},
			{Name: "tensor-fp16", Unit: ceiling.FLOPsPerSecond, Reason: "no tensor cores"},
		}}
	var b bytes.Buffer
	if err := report.RenderTables(&b, []report.Table{Table(f)}, report.Markdown, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### Ceilings of Made-up GPU, driver 1.2, measured 2026-09-10 09:00 UTC",
		"| dram-read ¹ | 3.000 TB/s | 2.990 TB/s–3.010 TB/s | 3.020 TB/s | 75.0 % | read_4: 4 blocks; at most 1.5 % of it from the L2 | 1980 MHz, 40 → 45 °C |",
		"| dram-copy ¹ ² | 5.000 TB/s | 5.000 TB/s–5.000 TB/s | 5.000 TB/s | 125.0 % | copy_4: 4 blocks | |",
		"| launch-span | 5.000 µs | 4.000 µs–6.000 µs | 3.900 µs | – | one empty kernel | |",
		"| tensor-fp16 | unavailable | – | – | – | no tensor cores | – |",
		"¹ hot", "² 125 % of what the device's attributes promise",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
