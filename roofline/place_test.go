package roofline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func h() Roofs {
	return Roofs{Device: "H", Roofs: []Roof{
		{"dram-read", DRAM, 4.4e12, 0}, {"dram-write", DRAM, 4e12, 1}, {"dram-copy", DRAM, 4.2e12, 0.5}, {"dram-triad", DRAM, 4.3e12, 1. / 3},
		{"l2-read", L2, 8e12, 0}, {"l2-copy", L2, 6e12, 0.5}, {"fp32-fma", FP32, 60e12, 0}, {"tensor-bf16", TensorBF16, 600e12, 0},
	}, LaunchUS: map[string]float64{"span": 5, "graph:100": 1.25}}
}

func half() *float64 { x := 0.5; return &x }

// A copy of 420 MB in 125 µs: 100 µs at 4.2 TB/s. With 4.2 GFLOP, 10 FLOP/B, the
// classic model allows min(60, 4.2 × 10) = 42 TFLOP/s; 33.6 are attained.
func TestPlaceIsTheClassicRoofline(t *testing.T) {
	w := Work{TimeUS: &Amount{125, "ncu"}, Demands: []Demand{
		{DRAM, Amount{420e6, "ncu"}, half()}, {FP32, Amount{4.2e9, "ncu"}, nil}}}
	p := Place(w, h())
	if p.Binds != DRAM || p.Roof != "dram-copy" || math.Abs(*p.Fraction-0.8) > 1e-12 || math.Abs(*p.Intensity-10) > 1e-12 {
		t.Errorf("%+v", p)
	}
	if math.Abs(*p.Ridge-60./4.2) > 1e-9 || math.Abs(*p.Shares[1].Attained-33.6e12) > 1 || len(p.Notes) > 0 || len(p.Unknown) > 0 {
		t.Errorf("%+v", p)
	}
	if want := "memory: 3.36 of 4.2 TB/s (80 % of dram-copy), 10 FLOP/B"; p.String() != want {
		t.Errorf("%q, want %q", p, want)
	}
	// At the ceiling of arithmetic: 7.5 GFLOP are 125 µs.
	w.Demands[1].Amount.Value = 7.5e9
	if p := Place(w, h()); p.Binds != FP32 || math.Abs(*p.Fraction-1) > 1e-12 || !strings.HasPrefix(p.String(), "compute: 60 of 60 TFLOP/s (100 % of fp32-fma)") {
		t.Errorf("%v", p)
	}
}

// TestFractionIsAttainedOverAttainable holds the formula of Place against the one
// that is usually drawn.
func TestFractionIsAttainedOverAttainable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Float64Range(1e-3, 1e15)
		bytes, flops, us := positive.Draw(t, "bytes"), positive.Draw(t, "flops"), positive.Draw(t, "us")
		beta, pi := positive.Draw(t, "beta"), positive.Draw(t, "pi")
		p := Place(Work{TimeUS: &Amount{us, "x"}, Demands: []Demand{{DRAM, Amount{bytes, "x"}, nil}, {FP32, Amount{flops, "x"}, nil}}},
			Roofs{Roofs: []Roof{{"b", DRAM, beta, 0}, {"p", FP32, pi, 0}}})
		attained := flops / (us * 1e-6)
		want := attained / min(pi, beta*flops/bytes)
		if math.Abs(*p.Fraction/want-1) > 1e-9 {
			t.Fatalf("%g, want %g", *p.Fraction, want)
		}
		if memory := *p.Intensity < *p.Ridge; memory != (p.Binds == DRAM) && math.Abs(*p.Intensity / *p.Ridge - 1) > 1e-9 {
			t.Fatalf("intensity %g, ridge %g, and %s binds", *p.Intensity, *p.Ridge, p.Binds)
		}
	})
}

func TestRoofOfAMixture(t *testing.T) {
	for _, c := range []struct {
		writes *float64
		want   string
	}{{nil, "dram-read"}, {ptr(0), "dram-read"}, {ptr(0.1), "dram-read"}, {ptr(0.3), "dram-triad"}, {ptr(0.5), "dram-copy"}, {ptr(0.9), "dram-write"}} {
		if r, ok := h().over(Demand{Resource: DRAM, Writes: c.writes}); !ok || r.Name != c.want {
			t.Errorf("%v: %v", c, r)
		}
	}
}

func ptr(x float64) *float64 { return &x }

func TestWhatIsUnknownStaysSo(t *testing.T) {
	p := Place(Work{}, h())
	if p.Binds != "" || p.Fraction != nil || p.Intensity != nil || len(p.Unknown) != 3 {
		t.Errorf("%+v", p)
	}
	if want := "unknown; time: not measured; bytes of DRAM: not measured; FLOPs: not measured"; p.String() != want {
		t.Errorf("%q", p)
	}
	// No time: what binds is known, how near is not.
	p = Place(Work{Demands: []Demand{{DRAM, Amount{420e6, "simt"}, half()}}}, h())
	if p.Binds != DRAM || p.Fraction != nil || p.Shares[0].Attained != nil || !strings.Contains(p.String(), "100 µs at least by dram-copy, time unknown") {
		t.Errorf("%v", p)
	}
	// No ceiling of the unit: not another's.
	p = Place(Work{TimeUS: &Amount{1, "ncu"}, Demands: []Demand{{FP64, Amount{1e9, "ncu"}, nil}}}, h())
	if p.Binds != "" || !slices.Contains(p.Unknown, "fp64: its ceiling was not measured") {
		t.Errorf("%+v", p)
	}
	// Tensor cores worked: no intensity from the FLOPs that were counted.
	p = Place(Work{TimeUS: &Amount{125, "ncu"}, Demands: []Demand{{DRAM, Amount{420e6, "ncu"}, nil}, {FP32, Amount{1, "ncu"}, nil}}, Unknown: []string{"FLOPs of tensor cores: x"}}, h())
	if p.Intensity != nil || p.Binds != DRAM {
		t.Errorf("%+v", p)
	}
}

func TestInstrumentsAreNotMixedSilently(t *testing.T) {
	w := Work{TimeUS: &Amount{125, "cuda-event"}, Demands: []Demand{{DRAM, Amount{420e6, "ncu"}, half()}, {FP32, Amount{1, Contract}, nil}}}
	p := Place(w, h())
	if len(p.Notes) != 2 || p.Notes[0] != "put together from several instruments: cuda-event, ncu" || !strings.Contains(p.Notes[1], "at least") {
		t.Errorf("%q", p.Notes)
	}
	w.TimeUS = &Amount{80, "ncu"}
	if p := Place(w, h()); len(p.Notes) != 2 || !strings.HasPrefix(p.Notes[1], "beyond the ceiling dram-copy") {
		t.Errorf("%q", p.Notes)
	}
}

func TestLaunches(t *testing.T) {
	tiny := []Demand{{DRAM, Amount{42e3, "ncu"}, half()}}
	for _, c := range []struct {
		mode     string
		launches int
		us       float64
		binds    Resource
		fraction float64
	}{
		{"graph:100", 1, 1.25, Launch, 1}, {"graph:50", 2, 5, Launch, 0.5}, {"graph:1", 1, 10, DRAM, 0.001},
		{"span", 3, 10, Launch, 0.5}, {"kernel", 1, 1, DRAM, 0.01}, {"", 1, 1, DRAM, 0.01},
	} {
		p := Place(Work{TimeUS: &Amount{c.us, "cuda-event"}, Demands: tiny, Mode: c.mode, Launches: c.launches}, h())
		if p.Binds != c.binds || math.Abs(*p.Fraction-c.fraction) > 1e-12 {
			t.Errorf("%+v: %s %g", c, p.Binds, *p.Fraction)
		}
	}
}

func TestAmountsInText(t *testing.T) {
	w := Work{TimeUS: &Amount{125, "ncu"}, Demands: []Demand{{DRAM, Amount{1e6, "ncu"}, nil}, {TensorBF16, Amount{1.2341e9, "ncu"}, nil}}}
	if p := Place(w, h()); p.String() != "compute: 9.87 of 600 TFLOP/s (1.65 % of tensor-bf16), 1234 FLOP/B" {
		t.Errorf("%q", p)
	}
}

// TestFLOPRate: of all units, also those without a ceiling; operations on integers are
// no FLOPs.
func TestFLOPRate(t *testing.T) {
	w := Work{TimeUS: &Amount{10, "ncu"}, Demands: []Demand{{FP32, Amount{1e6, "ncu"}, nil}, {TensorFP8, Amount{9e6, "ncu"}, nil}, {TensorINT8, Amount{5e6, "ncu"}, nil}}}
	p := Place(w, h())
	if p.FLOPRate == nil || math.Abs(*p.FLOPRate-1e12) > 1 {
		t.Errorf("%+v", p)
	}
	w.TimeUS = nil
	if p := Place(w, h()); p.FLOPRate != nil {
		t.Errorf("%g without a time", *p.FLOPRate)
	}
	w.TimeUS, w.Unknown = &Amount{10, "ncu"}, []string{"FLOPs of tensor cores: x"}
	if p := Place(w, h()); p.FLOPRate != nil {
		t.Errorf("%g, and some are unknown", *p.FLOPRate)
	}
}

// TestConstantsThatCannotBind: 10 MFLOP of half precision are 0.17 µs at the rate of
// single precision, which no device falls below.
func TestConstantsThatCannotBind(t *testing.T) {
	place := func(us, bytes float64) Placement {
		return Place(Work{TimeUS: &Amount{us, "ncu"}, Demands: []Demand{{DRAM, Amount{bytes, "ncu"}, half()}, {FP16, Amount{10e6, "ncu"}, nil}}}, h())
	}
	if p := place(10, 4.2e6); len(p.Unknown) > 0 || p.Binds != DRAM { // 1 µs
		t.Errorf("%+v", p)
	}
	if p := place(10, 0.42e6); !slices.Contains(p.Unknown, "fp16: its ceiling was not measured") {
		t.Errorf("%+v", p)
	}
	// Doubles are another matter: their rate may be a small part of that of single precision.
	p := Place(Work{TimeUS: &Amount{10, "ncu"}, Demands: []Demand{{DRAM, Amount{4.2e6, "ncu"}, half()}, {FP64, Amount{1, "ncu"}, nil}}}, h())
	if !slices.Contains(p.Unknown, "fp64: its ceiling was not measured") {
		t.Errorf("%+v", p)
	}
}

func TestBeyondACeiling(t *testing.T) {
	for _, c := range []struct {
		from Source
		mode string
		want string // "" for none
	}{
		{"ncu", "", "beyond the ceiling dram-copy: what was measured there is not the most that the device can do, or ncu counts too much"},
		{Contract, "", "beyond the ceiling dram-copy: what was measured there is not the most that the device can do"},
		{"ncu", "span", "beyond the ceiling launch-span: an empty kernel was launched more slowly in the session of the ceilings"},
	} {
		us := 90.0 // 100 at the ceiling
		if c.mode != "" {
			us = 4
		}
		w := Work{TimeUS: &Amount{us, "ncu"}, Mode: c.mode, Launches: 1, Demands: []Demand{{DRAM, Amount{420e6, c.from}, half()}}}
		if c.mode != "" {
			w.Demands = nil
		}
		if p := Place(w, h()); !slices.Contains(p.Notes, c.want) {
			t.Errorf("%q, want %q", p.Notes, c.want)
		}
	}
}
