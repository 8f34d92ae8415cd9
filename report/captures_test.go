package report_test

import (
	"bytes"
	"strings"
	"testing"

	"mage/evidence"
	"mage/report"
)

func p[T any](v T) *T { return &v }

// TestCapturesTable: one row per kernel, what is said of the operation once.
func TestCapturesTable(t *testing.T) {
	run := duel(1, nil).Run()
	caseID, arm := run.Record.Cases[0].ID, run.Record.Arms[0].ID
	run.Captures = []evidence.Capture{
		{Case: caseID, Arm: arm, Backend: "ncu", Outcome: "complete", Operations: 1, KernelUS: p(5.5), Launches: []evidence.Launch{
			{Kernel: "void first<2>(int)", Grid: [3]uint32{3, 1, 1}, Block: [3]uint32{64, 1, 1}, Registers: p(28), StaticShared: p(16), DynamicShared: p(32), MeanUS: p(2.0),
				Counters: map[string]evidence.Counter{"dram__bytes_read.sum": {Value: 4000, Unit: "B"}, "dram__bytes_write.sum": {Value: 96, Unit: "B"}}},
			{Kernel: "second", Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{64, 1, 1}, MeanUS: p(3.5)}}},
		{Case: caseID, Arm: arm, Backend: "sanitizer", Outcome: "findings", Reason: "1 finding: Invalid read", Operations: 1,
			Findings: []evidence.CapturedFinding{{Kind: "Invalid read", Count: 3}}},
		{Case: caseID, Arm: arm, Backend: "sanitizer", Outcome: "complete", Operations: 1},
	}
	var b bytes.Buffer
	if err := build(t, run).Render(&b, report.TableFormat, report.RenderOptions{Tables: []string{report.CapturesTable}}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"first ", "3,1,1", "48 B", "2.00 µs", "5.50 µs", "4.10 kB", "second", "3.50 µs", "3 × Invalid read", "none", "1 finding: Invalid read"} {
		if strings.Count(text, want) < 1 {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "5.50 µs") != 1 || strings.Contains(text, "first<2>") {
		t.Errorf("the operation's time once, short names:\n%s", text)
	}
	run.Captures = nil
	b.Reset()
	if err := build(t, run).Render(&b, report.TableFormat, report.RenderOptions{Tables: []string{report.CapturesTable}}); err != nil || b.Len() > 0 {
		t.Errorf("%v, %q", err, b.String())
	}
}
