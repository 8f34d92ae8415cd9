package report_test

import (
	"strings"
	"testing"

	"mage/report"
	"mage/report/internal/synthetic"
)

// One binary over three launchers of known cost, another that no two share.
func TestLaunchersOfOneBinary(t *testing.T) {
	b := synthetic.New(20, 50)
	gelu := b.Gelu(4096, 768)
	for _, a := range []struct {
		implementation, path, binary string
		us                           float64
	}{
		{"cuda/first", "driver", "aaaa", 10},
		{"triton/fixed", "driver", "bbbb", 8},
		{"triton/fixed", "cuda-python", "bbbb", 8},
		{"triton/fixed", "triton", "bbbb", 16},
		{"triton/other", "driver", "cccc", 8},
		{"triton/other", "cuda-python", "dddd", 4},
		{"rust/first", "driver", "eeee", 8},
		{"rust/first", "cuda-python", "eeee", 7},
	} {
		arm := b.Arm(a.implementation, a.path, "cuda:0")
		b.Entry(gelu, arm, a.binary, 0)
		for _, mode := range []string{"span", "batch:100"} {
			b.Add(synthetic.Cell{Case: gelu, Arm: arm, Mode: mode, Cache: "hot", Instrument: "cuda-event", US: a.us, Noise: 0.01, RoundNoise: 0.001, Operations: 1})
		}
		b.Add(synthetic.Cell{Case: gelu, Arm: arm, Mode: "submit", Cache: "hot", Instrument: "host-clock", US: a.us, Noise: 0.01, RoundNoise: 0.001, Operations: 1})
	}
	r := build(t, b.Run())
	want := map[string]report.Verdict{
		"triton/fixed@cuda-python": report.Equivalent, "triton/fixed@triton": report.Slower, "rust/first@cuda-python": report.Faster}
	if len(r.Launchers) != len(want) {
		t.Fatalf("%+v", r.Launchers)
	}
	for _, l := range r.Launchers {
		if len(l.Modes) != 2 || !strings.HasSuffix(l.Against, "@driver") {
			t.Errorf("%+v", l)
		}
		for _, m := range l.Modes {
			if m.Verdict != want[l.Arm] {
				t.Errorf("%s %s: %s, want %s", l.Arm, m.Mode, m.Verdict, want[l.Arm])
			}
		}
	}
	text := render(t, r, report.TableFormat, report.RenderOptions{Tables: []string{"launchers"}})
	for _, s := range []string{"Faster than the Go driver with the same binary: rust/first", "Of 6 comparisons: 2 faster, 2 slower, 2 equivalent, 0 indistinguishable, 0 undecided."} {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in:\n%s", s, text)
		}
	}
}

// Below what the A/A control tells from nothing, no launcher is faster or slower.
func TestLaunchersRespectTheResolution(t *testing.T) {
	b := synthetic.New(20, 50)
	gelu := b.Gelu(4096, 768)
	add := func(arm string, us, noise float64) {
		b.Entry(gelu, arm, "aaaa", 0)
		b.Add(synthetic.Cell{Case: gelu, Arm: arm, Mode: "span", Cache: "hot", Instrument: "cuda-event", US: us, Noise: 0.01, RoundNoise: noise, Operations: 1})
	}
	driver := b.Arm("cuda/first", "driver", "cuda:0")
	add(driver, 10, 0.001)
	add(b.Control(driver), 11, 0.001) // this machine cannot tell 10 % from nothing
	add(b.Arm("cuda/first", "cuda-python", "cuda:0"), 9.5, 0.001)
	r := build(t, b.Run())
	if len(r.Launchers) != 1 || r.Launchers[0].Modes[0].Verdict == report.Faster {
		t.Errorf("%+v", r.Launchers)
	}
}
