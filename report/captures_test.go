package report_test

import (
	"bytes"
	"strings"
	"testing"

	"mage/evidence"
	"mage/report"
	"mage/roofline"
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

// TestCapturesUnderCeilings: what ncu counted of a kernel lies under the ceilings of
// the device that the capture is of, and of no other.
func TestCapturesUnderCeilings(t *testing.T) {
	counters := map[string]evidence.Counter{"gpu__time_duration.sum": {Value: 150e-6, Unit: "s"}, "dram__bytes_read.sum": {Value: 270e6, Unit: "B"},
		"dram__bytes_write.sum": {Value: 240e6, Unit: "B"}, "sm__inst_executed_pipe_tensor.sum": {Value: 0, Unit: "inst"}}
	for _, c := range roofline.Counters() {
		if strings.HasPrefix(c, "smsp__sass") {
			counters[c] = evidence.Counter{Unit: "inst"}
		}
	}
	counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = evidence.Counter{Value: 510e6, Unit: "inst"}
	b := laboratory()
	b.Record.Devices[1].UUID = "GPU-1"
	for name, c := range map[string]struct {
		device, uuid string
		roofs        bool
		want, not    []string
	}{
		// 1.02 GFLOP and 510 MB are 2 FLOP/B, and 127.5 of 150 µs at 4 TB/s.
		"the device":    {"Synthetic H", "GPU-1", true, []string{"510 MB", "1.02 GFLOP", "2.00", "memory", "85 %", "are all ncu's", "of Synthetic H, measured"}, []string{"no roofline"}},
		"no device":     {"", "", true, []string{"memory", "85 %"}, nil},
		"another model": {"Other", "GPU-9", true, []string{"1.02 GFLOP", "no roofline: the ceilings are of Synthetic H (GPU-1), and the kernels ran on Other (GPU-9)"}, []string{"memory", "85 %"}},
		"no ceilings":   {"Synthetic H", "GPU-1", false, []string{"1.02 GFLOP", "2.00"}, []string{"memory", "of ceiling", "no roofline"}},
	} {
		run := b.Run()
		run.Captures = []evidence.Capture{{Case: b.Record.Cases[1].ID, Arm: "cuda/vector@driver", Backend: "ncu", Outcome: "complete", Operations: 1,
			Device: c.device, DeviceUUID: c.uuid, Launches: []evidence.Launch{{Kernel: "vector", MeanUS: p(150.0), Counters: counters}}}}
		o := report.Options{Resamples: 100}
		if c.roofs {
			under := roofs()
			o.Roofs = &under
		}
		r, err := report.Build(run, o)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.Render(&text, report.TableFormat, report.RenderOptions{Tables: []string{report.CapturesTable}}); err != nil {
			t.Fatal(err)
		}
		plain := strings.ReplaceAll(text.String(), "\u00a0", " ")
		for _, w := range c.want {
			if !strings.Contains(plain, w) {
				t.Errorf("%s: no %q in\n%s", name, w, plain)
			}
		}
		for _, w := range c.not {
			if strings.Contains(plain, w) {
				t.Errorf("%s: %q in\n%s", name, w, plain)
			}
		}
		placed := 0
		for _, x := range r.Roofline {
			if x.Kernel != "" {
				placed++
			}
		}
		if want := map[bool]int{true: 1}[c.roofs && c.device != "Other"]; placed != want {
			t.Errorf("%s: %d kernels in the table of the roofline, want %d", name, placed, want)
		}
	}
}
