package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mage/evidence"
	"mage/report"
	"mage/roofline"
)

func roofs() roofline.Roofs {
	return roofline.Roofs{Device: "Synthetic H", UUID: "GPU-1", About: "measured 2026-09-10 09:00 UTC, driver 580.159.04", Roofs: []roofline.Roof{
		{Name: "dram-copy", Resource: roofline.DRAM, Rate: 4e12, Writes: 0.5}, {Name: "l2-copy", Resource: roofline.L2, Rate: 8e12, Writes: 0.5},
		{Name: "fp32-fma", Resource: roofline.FP32, Rate: 60e12}}, LaunchUS: map[string]float64{"span": 2, "graph:100": 1}}
}

func TestRoofline(t *testing.T) {
	b := laboratory()
	b.Record.Devices[1].UUID = "GPU-1"
	run := b.Run()
	us := 150e-6
	run.Captures = []evidence.Capture{{Case: b.Record.Cases[1].ID, Arm: "cuda/vector@driver", Backend: "ncu", Outcome: "complete", Launches: []evidence.Launch{
		{Kernel: "void vector(float*)", Counters: map[string]evidence.Counter{
			"gpu__time_duration.sum": {Value: us, Unit: "s"}, "dram__bytes_read.sum": {Value: 270e6, Unit: "B"}, "dram__bytes_write.sum": {Value: 240e6, Unit: "B"}}},
		{Kernel: "uncounted"}}}}
	o := roofs()
	r, err := report.Build(run, report.Options{Roofs: &o, Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]report.RooflineResult{}
	for _, x := range r.Roofline {
		if strings.HasPrefix(x.Arm, "cpu/") || x.Mode == "submit" {
			t.Errorf("a row of %s in %s", x.Arm, x.Mode)
		}
		rows[x.Case+" "+x.Mode+" "+x.Arm+" "+x.Kernel] = x
	}
	small, large := b.Record.Cases[0], b.Record.Cases[1]
	// 25 MB stay in 60 MiB of L2: the L2 is the nearest ceiling, 8n bytes at 8 TB/s.
	x := rows[small.ID+" graph:100 cuda/vector@driver "]
	want := float64(small.CompulsoryBytes) / 8e12 * 1e6 / *x.TimeUS
	if x.Placement.Binds != roofline.L2 || math.Abs(*x.Placement.Fraction-want) > 1e-12 || x.Placement.Intensity != nil {
		t.Errorf("%+v, want %g", x, want)
	}
	// Of 537 MB all but 60 MiB must come from DRAM.
	x = rows[large.ID+" graph:100 cuda/vector@driver "]
	want = float64(large.CompulsoryBytes-60<<20) / 4e12 * 1e6 / *x.TimeUS
	if x.Placement.Binds != roofline.DRAM || math.Abs(*x.Placement.Fraction-want) > 1e-12 || x.Placement.Intensity == nil {
		t.Errorf("%+v, want %g", x, want)
	}
	// An impossible time is not placed.
	if _, ok := rows[large.ID+" kernel cuda/vector@driver "]; ok {
		t.Error("an impossible time is placed")
	}
	// What ncu counted: 510 MB in 150 µs, at 4 TB/s 127.5 µs; no FLOPs were counted.
	x = rows[large.ID+"  cuda/vector@driver void vector(float*)"]
	if p := x.Placement; p.Binds != roofline.DRAM || math.Abs(*p.Fraction-0.85) > 1e-12 || p.Intensity != nil || len(p.Notes) > 0 || *x.TimeUS != 150 {
		t.Errorf("%+v", x)
	}
	var text, csv bytes.Buffer
	if err := r.Render(&text, report.TableFormat, report.RenderOptions{Tables: []string{report.RooflineTable}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Under the ceilings of Synthetic H, measured 2026-09-10", "4.00 TB/s, dram-copy", "85 %", "unknown: FLOPs: not measured"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "another device of the same model") {
		t.Error("the device itself is taken for another")
	}
	if err := r.Render(&csv, report.CSV, report.RenderOptions{Tables: []string{report.RooflineTable}}); err != nil || !strings.Contains(csv.String(), "of_ceiling") {
		t.Error(err, csv.String())
	}
}

func TestRooflineOfAnotherDevice(t *testing.T) {
	run := laboratory().Run()
	o := roofs() // the record's device has no UUID
	r, err := report.Build(run, report.Options{Roofs: &o, Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.Render(&text, report.TableFormat, report.RenderOptions{Tables: []string{report.RooflineTable}}); err != nil || !strings.Contains(text.String(), "another device of the same model") {
		t.Error(err, text.String())
	}
	o.Device = "Other"
	if _, err := report.Build(run, report.Options{Roofs: &o, Resamples: 100}); err == nil || !strings.Contains(err.Error(), "the ceilings are of Other (GPU-1), on which nothing of this record ran") {
		t.Error(err)
	}
}
