package ncu

import (
	"math"
	"strings"
	"testing"

	"mage/capture"
)

func TestNumbersOfLocales(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   []float64
	}{
		{"English", []string{"1,234", "12,592,384", "32.26", "0"}, []float64{1234, 12592384, 32.26, 0}},
		{"English without a hint", []string{"1,234"}, []float64{1234}},
		{"C", []string{"1234567.5", "0.125"}, []float64{1234567.5, 0.125}},
		{"German", []string{"1.234", "12.592.384", "32,26", "1.234,5"}, []float64{1234, 12592384, 32.26, 1234.5}},
		{"German fraction alone", []string{"0,125", "7"}, []float64{0.125, 7}},
		{"French", []string{"1\u202f234,5", "12\u00a0592\u00a0384"}, []float64{1234.5, 12592384}},
		{"Swiss", []string{"1'234.5", "12’592’384"}, []float64{1234.5, 12592384}},
		{"exponent", []string{"1.5e+06", "-2.5"}, []float64{1.5e6, -2.5}},
	} {
		n := detect(c.values)
		for i, v := range c.values {
			if got, ok := n.parse(v); !ok || got != c.want[i] {
				t.Errorf("%s: %q = %v, %v; want %v", c.name, v, got, ok, c.want[i])
			}
		}
	}
}

func TestNoNumbers(t *testing.T) {
	for _, v := range []string{"", " ", "n/a", "nan", "(!) nan", "inf", "no data", "CachePreferNone", "0x10", "1_0", "all", "-", "1e", "(1, 1, 1)"} {
		if got, ok := (notation{'.'}).parse(v); ok {
			t.Errorf("%q was read as %v", v, got)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit  string
		value float64
		want  capture.Counter
	}{
		{"ns", 8160, capture.Counter{Value: 8.16e-6, Unit: "s"}},
		{"nsecond", 8160, capture.Counter{Value: 8.16e-6, Unit: "s"}},
		{"us", 8.16, capture.Counter{Value: 8.16e-6, Unit: "s"}},
		{"usecond", 8.16, capture.Counter{Value: 8.16e-6, Unit: "s"}},
		{"ms", 3, capture.Counter{Value: 3e-3, Unit: "s"}},
		{"msecond", 3, capture.Counter{Value: 3e-3, Unit: "s"}},
		{"second", 3, capture.Counter{Value: 3, Unit: "s"}},
		{"s", 3, capture.Counter{Value: 3, Unit: "s"}},
		{"byte", 5, capture.Counter{Value: 5, Unit: "B"}},
		{"Kbyte", 5, capture.Counter{Value: 5e3, Unit: "B"}},
		{"Mbyte", 12.59, capture.Counter{Value: 12.59e6, Unit: "B"}},
		{"Gbyte", 2, capture.Counter{Value: 2e9, Unit: "B"}},
		{"Gbyte/s", 2, capture.Counter{Value: 2e9, Unit: "B/s"}},
		{"Tbyte/second", 4.1, capture.Counter{Value: 4.1e12, Unit: "B/s"}},
		{"byte/second", 7, capture.Counter{Value: 7, Unit: "B/s"}},
		{"Kbyte/block", 16.38, capture.Counter{Value: 16380, Unit: "B/block"}},
		{"cycle/nsecond", 1.98, capture.Counter{Value: 1.98e9, Unit: "cycle/s"}},
		{"cycle/usecond", 1980, capture.Counter{Value: 1.98e9, Unit: "cycle/s"}},
		{"Ghz", 1.98, capture.Counter{Value: 1.98e9, Unit: "Hz"}},
		{"hz", 5, capture.Counter{Value: 5, Unit: "Hz"}},
		{"%", 12.5, capture.Counter{Value: 12.5, Unit: "%"}},
		{"", 12, capture.Counter{Value: 12, Unit: "1"}},
		{"inst", 12, capture.Counter{Value: 12, Unit: "inst"}},
		{"Kinst", 12, capture.Counter{Value: 12e3, Unit: "inst"}},
		{"inst/cycle", 0.5, capture.Counter{Value: 0.5, Unit: "inst/cycle"}},
		{"register/thread", 28, capture.Counter{Value: 28, Unit: "register/thread"}},
		{"thread", 2, capture.Counter{Value: 2, Unit: "thread"}},
		{"SM", 132, capture.Counter{Value: 132, Unit: "SM"}},
		{"pass", 3, capture.Counter{Value: 3, Unit: "pass"}},
		{"Mystery", 3, capture.Counter{Value: 3, Unit: "Mystery"}},
	} {
		got := base(c.value, c.unit)
		if got.Unit != c.want.Unit || math.Abs(got.Value-c.want.Value) > 1e-12*c.want.Value {
			t.Errorf("%g %s = %v, want %v", c.value, c.unit, got, c.want)
		}
	}
}

func TestDiagnose(t *testing.T) {
	for _, c := range []struct {
		log  string
		code int
		want capture.Outcome
		says string
	}{
		{"==ERROR== The application returned an error code (2).\n", 2, capture.TargetFailed, "exit code 2"},
		{"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n", 1, capture.ToolFailed, "may not read"},
		{"==WARNING== No kernels were profiled.\n", 0, capture.Empty, "without using CUDA"}, // of "true"
		{"==PROF== Connected to process 19440 (/usr/bin/program)\n==WARNING== No kernels were profiled.\n", 0, capture.Empty, "profiled no kernel"},
		{"==ERROR== Failed to find metric nonsense.sum\n", 1, capture.ToolFailed, "Failed to find metric nonsense.sum"},
		{"==PROF== Disconnected from process 1\n", 0, "", ""},
		{"the program's own ==ERROR== line\n", 3, "", ""},
	} {
		f, known := diagnose(c.log, c.code)
		if known != (c.want != "") || known && (f.Outcome != c.want || !strings.Contains(f.Reason, c.says)) {
			t.Errorf("%q: %v, %v; want %q", c.log, f, known, c.want)
		}
	}
}
