package report_test

import (
	"fmt"
	"io"
	"testing"

	"mage/evidence"
	"mage/report"
	"mage/report/internal/synthetic"
)

// million is a record of 10⁶ samples: 5 cases × 5 arms × 4 modes × 20 rounds × 500.
func million() *evidence.Run {
	s := synthetic.New(20, 500)
	var arms []string
	for i := range 4 {
		arms = append(arms, s.Arm(fmt.Sprintf("cuda/kernel%d", i), "driver", "cuda:0"))
	}
	arms = append(arms, s.Control(arms[0]))
	s.Record.Plan.Baseline = arms[:1]
	for i := range 5 {
		c := s.Gelu(4096, 768*(i+1))
		for _, mode := range []string{"span", "batch:100", "graph:100", "latency"} {
			instrument, n := "cuda-event", 1
			switch mode {
			case "latency":
				instrument = "host-clock"
			case "batch:100", "graph:100":
				n = 100
			}
			for k, arm := range arms {
				s.Add(synthetic.Cell{Case: c, Arm: arm, Mode: mode, Cache: "hot", Instrument: instrument,
					US: 40 * (1 + 0.1*float64(k%4)), Noise: 0.02, RoundNoise: 0.003, Operations: n})
			}
		}
		for k, arm := range arms {
			s.Entry(c, arm, fmt.Sprintf("%064d", k%4), 30)
		}
	}
	return s.Run()
}

// write puts a run on disk as an experiment would and returns its directory.
func write(b testing.TB, run *evidence.Run) string {
	b.Helper()
	w, err := evidence.Create(b.TempDir(), "bench", *run.Record)
	if err != nil {
		b.Fatal(err)
	}
	lines := run.Lines
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].Case == lines[0].Case && lines[n].Mode == lines[0].Mode && lines[n].Cache == lines[0].Cache &&
			lines[n].Round == lines[0].Round && lines[n].Attempt == lines[0].Attempt {
			n++
		}
		if err := w.AppendRound(lines[:n]); err != nil {
			b.Fatal(err)
		}
		lines = lines[n:]
	}
	if err := w.Finish(evidence.Complete, ""); err != nil {
		b.Fatal(err)
	}
	dir := w.Dir()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkReport is `mage report` of a record of 10⁶ samples, from the files to
// the last byte of the table.
func BenchmarkReport(b *testing.B) {
	dir := write(b, million())
	for b.Loop() {
		run, err := evidence.Load(dir)
		if err != nil {
			b.Fatal(err)
		}
		r, err := report.Build(run, report.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if r.Header.Samples != 1_000_000 {
			b.Fatalf("%d samples", r.Header.Samples)
		}
		if err := r.Render(io.Discard, report.TableFormat, report.RenderOptions{Width: 120}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}

// BenchmarkBuild is the judging alone.
func BenchmarkBuild(b *testing.B) {
	run := million()
	for b.Loop() {
		if _, err := report.Build(run, report.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRender is each format alone.
func BenchmarkRender(b *testing.B) {
	r, err := report.Build(million(), report.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range report.Formats() {
		b.Run(f, func(b *testing.B) {
			for b.Loop() {
				if err := r.Render(io.Discard, report.Format(f), report.RenderOptions{Width: 120, Box: true, Color: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A record says the same from the disk as from memory.
func TestReportOfALoadedRecord(t *testing.T) {
	run := laboratory().Run()
	loaded, err := evidence.Load(write(t, run))
	if err != nil {
		t.Fatal(err)
	}
	run.Record = loaded.Record // it was given its own id and times
	run.Warnings = loaded.Warnings
	want := render(t, build(t, run), report.JSON, report.RenderOptions{})
	if got := render(t, build(t, loaded), report.JSON, report.RenderOptions{}); got != want {
		t.Error("the report of the loaded record differs")
	}
}
