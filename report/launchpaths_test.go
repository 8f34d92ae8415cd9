package report_test

import (
	"strings"
	"testing"

	"mage/impl"
	"mage/report"
	"mage/report/internal/synthetic"
)

// The baseline is launched by the driver. Each other arm has a known truth: what
// its span and its graph time are relative to it.
func TestLaunchPaths(t *testing.T) {
	for _, c := range []struct {
		span, graph float64 // relative to the baseline
		want        report.PathOutcome
		says        string
	}{
		{0.80, 0.80, report.Persists, "An advantage persists: torch/eager 0.80"},
		{1.30, 1.30, report.Persists, "A disadvantage persists: torch/eager 1.30"},
		{0.80, 1.00, report.Vanishes, "An advantage vanishes: torch/eager 0.80"},
		{2.50, 1.00, report.Vanishes, "A disadvantage vanishes: torch/eager 2.50"},
		{0.80, 1.30, report.Reverses, "An advantage reverses: torch/eager 0.80"},
		{2.50, 0.70, report.Reverses, "A disadvantage reverses: torch/eager 2.50"},
		{1.00, 0.80, report.Appears, "An advantage appears that one call does not resolve: torch/eager 1.00"},
		{1.00, 1.30, report.Appears, "A disadvantage appears that one call does not resolve: torch/eager 1.00"},
		{1.00, 1.00, report.NoDifference, "interval. No difference: torch/eager."},
		{1.02, 0.80, report.PathUndecided, "interval. Undecided: torch/eager."},
	} {
		b := synthetic.New(20, 50)
		gelu := b.Gelu(4096, 768)
		first := b.Arm("cuda/first", "driver", "cuda:0")
		control := b.Control(first)
		other := b.Arm("torch/eager", "torch", "cuda:0")
		for _, arm := range []string{first, control, other} {
			e := b.Entry(gelu, arm, "", 0)
			if arm == other {
				e.Identity.Notes = map[string]string{impl.OutputNote: "thrown away"}
			}
		}
		for _, m := range []struct {
			mode     string
			us       float64
			relative float64
		}{{"span", 11, c.span}, {"graph:100", 7, c.graph}} {
			cell := func(arm string, relative, noise float64) {
				b.Add(synthetic.Cell{Case: gelu, Arm: arm, Mode: m.mode, Cache: "hot", Instrument: "cuda-event",
					US: m.us * relative, Noise: 0.01, RoundNoise: noise, Operations: 1, Launches: 1})
			}
			cell(first, 1, 0.002)
			cell(control, 1, 0.002)
			noise := 0.002
			if c.want == report.PathUndecided {
				noise = 0.03 // of the arm alone: the control must resolve what it cannot decide
			}
			cell(other, m.relative, noise)
		}
		b.Add(synthetic.Cell{Case: gelu, Arm: first, Mode: "kernel", Cache: "hot", Instrument: "cupti", US: 6.5, Noise: 0.01, Operations: 1})
		r := build(t, b.Run())
		if len(r.LaunchPaths) != 1 || len(r.LaunchPaths[0].Rows) != 2 {
			t.Fatalf("%+v", r.LaunchPaths)
		}
		base, row := r.LaunchPaths[0].Rows[0], r.LaunchPaths[0].Rows[1]
		if base.Implementation != "cuda/first" {
			base, row = row, base
		}
		if says := r.LaunchPaths[0].Verdict; row.Outcome != c.want || !strings.Contains(says, "Over the time of cuda/first, ") || !strings.Contains(says, c.says) {
			t.Errorf("span %v, graph %v: %s: %s", c.span, c.graph, row.Outcome, says)
		}
		if base.Outcome != "" || base.KernelUS == nil || row.KernelUS != nil {
			t.Errorf("the baseline's row: %+v", base)
		}
		if row.PathUS == nil || *row.PathUS < 11*c.span-7*c.graph-0.5 || *row.PathUS > 11*c.span-7*c.graph+0.5 {
			t.Errorf("span − graph is %v", row.PathUS)
		}
		text := render(t, r, report.TableFormat, report.RenderOptions{Tables: []string{"launch-paths"}})
		if !strings.Contains(text, "torch") || !strings.Contains(text, string(c.want)) || !strings.Contains(text, "¹ its output is thrown away") {
			t.Errorf("the table:\n%s", text)
		}
	}
}

// Where the baseline has no graph, kernels take the launch path out.
func TestLaunchPathsWithoutAGraphOfTheBaseline(t *testing.T) {
	b := synthetic.New(20, 50)
	gelu := b.Gelu(4096, 768)
	first, other := b.Arm("cuda/first", "driver", "cuda:0"), b.Arm("torch/eager", "torch", "cuda:0")
	add := func(arm, mode, instrument string, us float64) {
		b.Add(synthetic.Cell{Case: gelu, Arm: arm, Mode: mode, Cache: "hot", Instrument: instrument, US: us, Noise: 0.01, RoundNoise: 0.001, Operations: 1})
	}
	for _, arm := range []string{first, other} {
		b.Entry(gelu, arm, "", 0)
	}
	add(first, "span", "cuda-event", 10)
	add(other, "span", "cuda-event", 20)
	add(other, "graph:100", "cuda-event", 8)
	add(first, "kernel", "cupti", 8)
	add(other, "kernel", "cupti", 8)
	r := build(t, b.Run())
	row := r.LaunchPaths[0].Rows[1]
	if row.MatchedMode != "kernel" || row.Outcome != report.Vanishes || row.GraphUS == nil {
		t.Errorf("%+v", row)
	}
	if says := r.LaunchPaths[0].Verdict; !strings.Contains(says, "matched (kernel)") {
		t.Error(says)
	}
}

func TestOneLaunchPathNeedsNoTable(t *testing.T) {
	if r := build(t, laboratory().Run()); len(r.LaunchPaths) != 0 {
		t.Errorf("%+v", r.LaunchPaths)
	}
}

func TestOnlySelectsLaunchPathsToo(t *testing.T) {
	b := synthetic.New(6, 10)
	first, other := b.Arm("cuda/first", "driver", "cuda:0"), b.Arm("torch/eager", "torch", "cuda:0")
	for _, c := range []string{b.Gelu(64, 768), b.Gelu(4096, 768)} {
		for _, arm := range []string{first, other} {
			b.Entry(c, arm, "", 0)
			b.Add(synthetic.Cell{Case: c, Arm: arm, Mode: "span", Cache: "hot", Instrument: "cuda-event", US: 9, Noise: 0.01, Operations: 1})
		}
	}
	r := build(t, b.Run())
	some, err := r.Only("R=64")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.LaunchPaths) != 2 || len(some.LaunchPaths) != 1 || !strings.Contains(some.LaunchPaths[0].Case, "R=64") {
		t.Errorf("of %d selected %+v", len(r.LaunchPaths), some.LaunchPaths)
	}
}
