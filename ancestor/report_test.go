package ancestor_test

import (
	"errors"
	"strings"
	"testing"

	"mage/ancestor"
	"mage/evidence"
	"mage/report"
)

func build(t *testing.T, dir string) (*evidence.Run, string) {
	t.Helper()
	run, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Build(run, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Render(&b, report.TableFormat, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	return run, b.String()
}

// TestReport reads what a report says of imported records, and that it compares
// them with nothing.
func TestReport(t *testing.T) {
	records := importBoth(t, t.TempDir())
	results, text := build(t, records[0].Dir)
	for _, want := range []string{
		"imported       comparison-results.json, sha256 ", "measured 2026-08-02 09:30:25 UTC; CUDA-event span per operation",
		"host           linux/amd64\n", "device cuda:0  NVIDIA GeForce RTX 4090, driver 591.74, CUDA 12.8",
		"gelu fp32 R=4096 D=768", "cache hot, instrument cuda-event", "span  python  torch ", "baseline", "undecided",
		"round 1, round 2, round 3  passed", "compare nothing of it with another record",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	profiles, text := build(t, records[1].Dir)
	for _, want := range []string{"cache hot, instrument nsys", "kernel  python  torch ", "profiled one after the other, not interleaved",
		"the file holds no correctness check of these runs", "separate profiled run", "reduced timestamp precision"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, no := range []string{"failed", "Launch paths", "Correctness gate", "baseline "} {
		if strings.Contains(text, no) {
			t.Errorf("%q in\n%s", no, text)
		}
	}
	for _, pair := range [][2]*evidence.Run{{results, profiles}, {profiles, results}, {results, results}} {
		_, err := report.CompareRuns(pair[0], pair[1], report.Options{})
		if imported := new(report.ImportedError); !errors.As(err, &imported) {
			t.Error(err)
		}
	}
	c, err := report.CompareArms(results, "python", "rust", report.Options{})
	if err != nil || c.Compared == 0 {
		t.Errorf("arms of one session are compared: %+v, %v", c, err)
	}
	c, err = report.CompareArms(profiles, "python", "rust", report.Options{})
	if err != nil || c.Compared != 0 {
		t.Errorf("what was profiled apart is not compared: %+v, %v", c, err)
	}
}

func importBoth(t *testing.T, results string) []ancestor.Record {
	t.Helper()
	records, err := ancestor.Import([]string{"testdata/comparison-results.json", "testdata/comparison-profiles.json"},
		ancestor.Options{Results: results, Version: "0.1.0"})
	if err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	return records
}
