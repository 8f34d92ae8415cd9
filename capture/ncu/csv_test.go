package ncu

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/capture"
)

func readFile(t *testing.T, name string) []capture.Kernel {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return kernels
}

// TestRaw reads what ncu 2025.3.1 wrote on an H200, with the values as they stand
// in the file.
func TestRaw(t *testing.T) {
	kernels := readFile(t, "raw-metrics.csv")
	if len(kernels) != 2 {
		t.Fatalf("%d kernels, want 2", len(kernels))
	}
	p := func(v int) *int { return &v }
	us := 8.160
	want := capture.Kernel{
		Name: "gelu_kernel", DurationUS: &us, Device: p(0), Context: p(1), Stream: p(7),
		Grid: capture.Dim{3072, 1, 1}, Block: capture.Dim{128, 1, 1}, Registers: p(28), StaticShared: p(0), DynamicShared: p(0),
		Counters: map[string]capture.Counter{
			"dram__bytes_read.sum":                              {Value: 12592128, Unit: "B"},
			"dram__bytes_write.sum":                             {Value: 11520, Unit: "B"},
			"gpu__time_duration.sum":                            {Value: 8.16e-6, Unit: "s"},
			"l1tex__t_sector_hit_rate.pct":                      {Value: 32.26, Unit: "%"},
			"launch__persisting_l2_cache_size":                  {Value: 11796480, Unit: "B"},
			"launch__registers_per_thread":                      {Value: 28, Unit: "register/thread"},
			"launch__shared_mem_per_block_dynamic":              {Value: 0, Unit: "B/block"},
			"launch__shared_mem_per_block_static":               {Value: 0, Unit: "B/block"},
			"lts__t_sector_hit_rate.pct":                        {Value: 51.83, Unit: "%"},
			"sm__warps_active.avg.pct_of_peak_sustained_active": {Value: 63.84, Unit: "%"},
		},
	}
	if diff := cmp.Diff(want, kernels[0], cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) })); diff != "" {
		t.Error(diff)
	}
}

// TestMissingCountersStayMissing: the full set leaves cells empty, and one "nan".
func TestMissingCountersStayMissing(t *testing.T) {
	kernels := readFile(t, "raw-full.csv")
	if len(kernels) != 3 {
		t.Fatalf("%d kernels, want 3", len(kernels))
	}
	for i, k := range kernels {
		for _, name := range []string{"FBSP.TriageCompute.dramc__read_throughput.avg.pct_of_peak_sustained_elapsed", "launch__func_cache_config", "launch__tpc_enabled"} {
			if c, ok := k.Counters[name]; ok {
				t.Errorf("kernel %d: %s = %v, want none", i, name, c)
			}
		}
	}
	if c, ok := kernels[0].Counters["derived_tempMetric4"]; ok {
		t.Errorf("nan was read as %v", c)
	}
	last := kernels[2]
	for name, want := range map[string]capture.Counter{
		"dram__bytes_read.sum":                              {Value: 12592384, Unit: "B"},
		"dram__cycles_elapsed.avg.per_second":               {Value: 0, Unit: "Hz"},
		"sm__inst_executed.avg.per_cycle_active":            {Value: 0, Unit: "inst/cycle"},
		"lts__throughput.avg.pct_of_peak_sustained_elapsed": {Value: 0, Unit: "%"},
	} {
		c := last.Counters[name]
		if c.Unit != want.Unit || want.Value != 0 && c.Value != want.Value || c.Value <= 0 {
			t.Errorf("%s = %v, want %v", name, c, want)
		}
	}
	if us := *last.DurationUS; us != 7.84 {
		t.Errorf("duration %g µs, want 7.84", us)
	}
}

func TestUnreadable(t *testing.T) {
	const header = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"x\"\n\"\",\"\",\"\",\"\",\"\"\n"
	for name, text := range map[string]string{
		"torn in a value":     header + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"12",
		"torn after a value":  header + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"12\"",
		"torn after a field":  header + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\"\n",
		"torn in the size":    header + "\"0\",\"k\",\"(1, ",
		"a line of too much":  header + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1\",\"2\"\n",
		"torn between quotes": header + "\"0\",\"k",
	} {
		_, err := Parse([]byte(text))
		if f, ok := errors.AsType[*capture.Failure](err); !ok || f.Outcome != capture.Invalid || !strings.Contains(f.Reason, "not whole") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing":      "",
		"no header":    "==ERROR== The application returned an error code (2).\n",
		"no kernel":    "\"ID\",\"Process ID\"\n\"0\",\"1\"\n",
		"another page": "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"k\",\"Duration\",\"ns\",\"3\"\n",
		"no units":     "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"x.sum\"\n\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"3\"\n",
		"bad size":     "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"x.sum\"\n\"\",\"\",\"\",\"\",\"\"\n\"0\",\"k\",\"(1, 1)\",\"(1, 1, 1)\",\"3\"\n",
	} {
		_, err := Parse([]byte(text))
		if f, ok := errors.AsType[*capture.Failure](err); !ok || f.Outcome != capture.Unsupported {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

// TestCountsThatCannotBe are kept as counters, and are no registers.
func TestCountsThatCannotBe(t *testing.T) {
	kernels, err := Parse([]byte("\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"launch__registers_per_thread\"\n" +
		"\"\",\"\",\"\",\"\",\"register/thread\"\n\"0\",\"a, \"\"b\"\"\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1e300\"\n\"1\",\"b\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"-3\"\n"))
	if err != nil || len(kernels) != 2 || kernels[0].Name != `a, "b"` {
		t.Fatal(kernels, err)
	}
	for _, k := range kernels {
		if k.Registers != nil || len(k.Counters) != 1 {
			t.Errorf("%+v", k)
		}
	}
}

// FuzzParse must neither panic nor read a number that is none.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"raw-metrics.csv", "raw-full.csv"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 4000)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kernels, err := Parse(text)
		if err != nil {
			return
		}
		for _, k := range kernels {
			for name, c := range k.Counters {
				if math.IsNaN(c.Value) || strings.TrimSpace(c.Unit) == "" {
					t.Errorf("%s = %v", name, c)
				}
			}
		}
	})
}

// TestDevice: every table of ncu names the device; what does not is not guessed.
func TestDevice(t *testing.T) {
	text, err := os.ReadFile("testdata/raw-metrics.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"one":     {"", "", "NVIDIA H200"},
		"two":     {"NVIDIA H200", "NVIDIA A100", ""}, // the first line's only
		"unnamed": {"device__attribute_display_name", "another", ""},
	} {
		table, rows, err := read([]byte(strings.Replace(string(text), c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if device := table.device(rows); device != c.want {
			t.Errorf("%s: %q; want %q", name, device, c.want)
		}
	}
}
