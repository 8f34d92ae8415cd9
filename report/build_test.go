package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/evidence"
	"mage/gate"
	"mage/report"
	"mage/report/internal/synthetic"
)

func build(t *testing.T, run *evidence.Run) *report.Report {
	t.Helper()
	r, err := report.Build(run, report.Options{Resamples: 500})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cell finds one cell; it fails the test unless there is exactly one.
func cell(t *testing.T, r *report.Report, arm, mode string) report.Cell {
	t.Helper()
	var found []report.Cell
	for _, c := range r.Cases {
		for _, g := range c.Groups {
			for _, x := range g.Cells {
				if x.Arm == arm && g.Mode == mode {
					found = append(found, x)
				}
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d cells of %s in mode %s, want 1", len(found), arm, mode)
	}
	return found[0]
}

func kinds(ws []report.Warning) []string {
	var out []string
	for _, w := range ws {
		out = append(out, w.Kind)
	}
	return out
}

func has(t *testing.T, ws []report.Warning, kind string, want bool) {
	t.Helper()
	if got := slices.Contains(kinds(ws), kind); got != want {
		t.Errorf("warning %q: %v, want %v (have %v)", kind, got, want, kinds(ws))
	}
}

// duel is a record of two arms on one device in span mode; b takes ratio times as
// long as a.
func duel(ratio float64, change func(*synthetic.Builder, *synthetic.Cell)) *synthetic.Builder {
	s := synthetic.New(20, 60)
	c := s.Gelu(4096, 768)
	a, b := s.Arm("cuda/first", "driver", "cuda:0"), s.Arm("cuda/vector", "driver", "cuda:0")
	s.Entry(c, a, strings.Repeat("1a", 32), 20)
	s.Entry(c, b, strings.Repeat("2b", 32), 30)
	base := synthetic.Cell{Case: c, Arm: a, Mode: "span", Cache: "hot", Instrument: "cuda-event", US: 80, Noise: 0.01, RoundNoise: 0.003, Operations: 1}
	other := base
	other.Arm, other.US = b, base.US*ratio
	if change != nil {
		change(s, &other)
	}
	s.Add(base, other)
	return s
}

func TestVerdictsFollowTheTruth(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  report.Verdict
	}{{0.8, report.Faster}, {1.25, report.Slower}, {1, report.Equivalent}, {1.005, report.Equivalent}, {1.02, report.Undecided}} {
		x := cell(t, build(t, duel(c.ratio, nil).Run()), "cuda/vector@driver", "span")
		if x.Verdict != c.want {
			t.Errorf("true ratio %g: %s, want %s (ratio %g [%g, %g])", c.ratio, x.Verdict, c.want, x.Effect.Ratio, *x.Effect.Low, *x.Effect.High)
		}
		// The seed is fixed, so this is not a matter of chance.
		if e := x.Effect; !(*e.Low <= c.ratio && c.ratio <= *e.High) || !(*e.TableLow <= *e.Low && *e.High <= *e.TableHigh) {
			t.Errorf("true ratio %g outside of [%g, %g]", c.ratio, *e.Low, *e.High)
		}
		// The rounds share a drift of 2 %: the paired ratio must not feel it.
		if w := *x.Effect.High - *x.Effect.Low; w > 0.01*c.ratio {
			t.Errorf("true ratio %g: interval %g wide; pairing should have removed what rounds share", c.ratio, w)
		}
	}
}

func TestIdenticalBinaries(t *testing.T) {
	s := duel(1, nil)
	r := build(t, s.Run())
	has(t, r.Warnings, report.IdenticalBinary, false)
	s.Record.Entries[1].Identity.BinarySHA256 = s.Record.Entries[0].Identity.BinarySHA256
	x := cell(t, build(t, s.Run()), "cuda/vector@driver", "span")
	has(t, x.Warnings, report.IdenticalBinary, true)
	s.Record.Entries[1].Identity.Block = &[3]uint32{128, 1, 1}
	for _, w := range cell(t, build(t, s.Run()), "cuda/vector@driver", "span").Warnings {
		if w.Kind == report.IdenticalBinary && !strings.Contains(w.Text, "launched differently") {
			t.Errorf("%q does not say that the launch differs", w.Text)
		}
	}
	// One executable may hold many implementations.
	for i := range s.Record.Entries {
		s.Record.Entries[i].Identity.BinaryKind = "executable"
	}
	has(t, build(t, s.Run()).Warnings, report.IdenticalBinary, false)
}

func TestTwoInstrumentsAreNotCompared(t *testing.T) {
	s := duel(0.5, func(s *synthetic.Builder, x *synthetic.Cell) { x.Instrument = "host-clock" })
	x := cell(t, build(t, s.Run()), "cuda/vector@driver", "span")
	if x.Verdict != report.NotComparable || x.MedianUS == nil || x.Effect != nil {
		t.Errorf("%s, median %v, effect %v; want the time without a comparison", x.Verdict, x.MedianUS, x.Effect)
	}
	if want := "read with the host-clock, the baseline with the cuda-event"; x.Why != want {
		t.Errorf("reason %q, want %q", x.Why, want)
	}
}

func TestTwoDevicesAreNotCompared(t *testing.T) {
	s := duel(0.5, nil)
	s.Record.Arms[1].Device = "cpu"
	x := cell(t, build(t, s.Run()), "cuda/vector@driver", "span")
	if x.Verdict != report.NotComparable || !strings.Contains(x.Why, "on device cpu") {
		t.Errorf("%s (%s), want not comparable: another device", x.Verdict, x.Why)
	}
}

func TestFailedGateRemovesTheArm(t *testing.T) {
	s := duel(0.5, nil)
	s.Record.Entries[1].Gates[1] = gate.Result{Stage: "left-behind", Failure: "3 of 3145728 values differ, first at [0 1]"}
	r := build(t, s.Run())
	x := cell(t, r, "cuda/vector@driver", "span")
	if x.Verdict != report.Failed || x.MedianUS != nil || !strings.Contains(x.Why, "3 of 3145728 values differ") {
		t.Errorf("%s (%s), median %v; want failed without a time", x.Verdict, x.Why, x.MedianUS)
	}
	if g := r.Gates[1]; g.Passed || g.Error == "" {
		t.Errorf("gate table says %+v", g)
	}
}

// Correct first: times without a gate in the record are those of anything.
func TestNoVerdictWithoutAGate(t *testing.T) {
	for what, spoil := range map[string]func(*evidence.Record){
		"no entry":              func(r *evidence.Record) { r.Entries = r.Entries[:1] },
		"an entry without gate": func(r *evidence.Record) { r.Entries[1].Gates = nil },
		"another session's":     func(r *evidence.Record) { r.Entries[1].Session = 2 },
	} {
		s := duel(0.5, nil)
		spoil(&s.Record)
		x := cell(t, build(t, s.Run()), "cuda/vector@driver", "span")
		if x.Verdict != report.Failed || x.MedianUS != nil || !strings.Contains(x.Why, "gate") {
			t.Errorf("%s: %s (%s), median %v; want failed without a time", what, x.Verdict, x.Why, x.MedianUS)
		}
	}
}

// A mode that an arm lacked in one case only names the case; one that it lacked
// in all of them, and an arm that was never opened, need not.
func TestUnavailableNamesItsCases(t *testing.T) {
	s := synthetic.New(20, 10)
	small, large := s.Gelu(4, 8), s.Gelu(4096, 768)
	a, b := s.Arm("cpu/naive", "go", "cpu"), s.Arm("cpu/parallel", "go", "cpu")
	never := evidence.Unavailable{What: "graph:100", Reason: "a CPU has no graph replay"}
	long := evidence.Unavailable{What: "batch:100", Reason: "a sample would take too long"}
	for _, arm := range []string{a, b} {
		s.Entry(small, arm, "", 0).Unavailable = []evidence.Unavailable{never}
		s.Entry(large, arm, "", 0).Unavailable = []evidence.Unavailable{never, long}
	}
	s.Record.Entries[2].Unavailable = append(s.Record.Entries[2].Unavailable, long) // parallel, small: everywhere
	got := build(t, s.Run()).Unavailable
	want := []report.Missing{
		{What: never.What, Reason: never.Reason, Where: []string{"cpu/naive", "cpu/parallel"}},
		{What: long.What, Reason: long.Reason, Where: []string{"cpu/parallel"}},
		{What: long.What, Reason: long.Reason, Where: []string{"cpu/naive"}, Cases: []string{"gelu 4096×768"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOnlyUnavailable(t *testing.T) {
	s := synthetic.New(20, 10)
	s.Arm("cuda/first", "driver", "cuda:0")
	s.Arm("cuda/vector", "driver", "cuda:0")
	lack := evidence.Unavailable{What: "CUDA", Reason: "libcuda.so.1: cannot open shared object file", Remedy: "install the NVIDIA driver"}
	for i := range s.Record.Arms {
		s.Record.Arms[i].Unavailable = &lack
	}
	r := build(t, s.Run())
	if len(r.Cases) != 0 || len(r.Unavailable) != 1 || len(r.Unavailable[0].Where) != 2 {
		t.Fatalf("%d cases, unavailable %+v; want one reason for two arms", len(r.Cases), r.Unavailable)
	}
	var out strings.Builder
	if err := r.Render(&out, report.TableFormat, report.RenderOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), lack.Remedy) {
		t.Errorf("the remedy is not shown:\n%s", out.String())
	}
}

func TestWarningsOfTheSamples(t *testing.T) {
	for kind, change := range map[string]func(*synthetic.Builder, *synthetic.Cell){
		"drift":           func(_ *synthetic.Builder, c *synthetic.Cell) { c.Drift = 0.2 },
		"autocorrelation": func(_ *synthetic.Builder, c *synthetic.Cell) { c.Lag = 0.8 },
		"bimodal":         func(_ *synthetic.Builder, c *synthetic.Cell) { c.OtherState = 0.3 },
		"timer-limited":   func(_ *synthetic.Builder, c *synthetic.Cell) { c.US = 5 },
		"wide-spread":     func(_ *synthetic.Builder, c *synthetic.Cell) { c.US = 80 * 1.06; c.Noise = 0.05 },
	} {
		t.Run(kind, func(t *testing.T) {
			has(t, cell(t, build(t, duel(1.2, nil).Run()), "cuda/vector@driver", "span").Warnings, kind, false)
			has(t, cell(t, build(t, duel(1.2, change).Run()), "cuda/vector@driver", "span").Warnings, kind, true)
		})
	}
}

func TestClocksThatDisagree(t *testing.T) {
	for _, c := range []struct {
		us   float64
		want bool
	}{{79, false}, {120, true}} {
		s := duel(1, nil)
		k := s.Cells[0]
		k.Mode, k.Instrument, k.US = "kernel", "cupti", c.us
		s.Add(k)
		has(t, build(t, s.Run()).Warnings, "clock-mismatch", c.want)
	}
}

func TestBuildRefusesWhatItCannotRead(t *testing.T) {
	for name, spoil := range map[string]func(*evidence.Line){
		"unit": func(l *evidence.Line) { l.Unit = "ms" },
		"time": func(l *evidence.Line) { l.Samples = []float64{-1} },
	} {
		run := duel(1, nil).Run()
		spoil(&run.Lines[3])
		if _, err := report.Build(run, report.Options{}); err == nil {
			t.Errorf("a bad %s is accepted", name)
		}
	}
}

func TestStrangersAreLeftOutAloud(t *testing.T) {
	run := duel(1, nil).Run()
	has(t, build(t, run).Warnings, evidence.UnknownCell, false)
	run.Lines[3].Arm, run.Lines[8].Case = "nobody", "nothing"
	r := build(t, run)
	has(t, r.Warnings, evidence.UnknownCell, true)
	if r.Header.Rounds != 38 {
		t.Errorf("%d rounds, want 38", r.Header.Rounds)
	}
}

func TestErrorEventsAreReported(t *testing.T) {
	run := duel(1, nil).Run()
	run.Events = []evidence.Event{{Level: "info", What: "session-started"},
		{Level: "error", What: "launch-failed", Arm: "cuda/vector@driver", Detail: "CUDA_ERROR_LAUNCH_FAILED in cuLaunchKernel"}}
	r := build(t, run)
	has(t, r.Warnings, "launch-failed", true)
	has(t, r.Warnings, "session-started", false)
}

// A stopping rule looks many times, so the same data must convince it less.
func TestStoppingRuleWidensTheTable(t *testing.T) {
	b := laboratory()
	fixed := build(t, b.Run())
	b.Record.Plan.Stop, b.Record.Plan.MaxRounds = true, 60
	looked := build(t, b.Run())
	compared := 0
	for i, c := range fixed.Cases {
		for j, g := range c.Groups {
			for k, cell := range g.Cells {
				other := looked.Cases[i].Groups[j].Cells[k]
				if cell.Effect == nil || cell.Verdict == report.Control || cell.Effect.TableLow == nil {
					continue
				}
				compared++
				if *other.Effect.TableLow >= *cell.Effect.TableLow || *other.Effect.TableHigh <= *cell.Effect.TableHigh {
					t.Errorf("%s %s: [%v, %v] with looks, [%v, %v] without", g.Mode, cell.Arm,
						*other.Effect.TableLow, *other.Effect.TableHigh, *cell.Effect.TableLow, *cell.Effect.TableHigh)
				}
				if other.Effect.PVerdict < cell.Effect.PVerdict {
					t.Errorf("%s %s: p %v with looks, %v without", g.Mode, cell.Arm, other.Effect.PVerdict, cell.Effect.PVerdict)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
