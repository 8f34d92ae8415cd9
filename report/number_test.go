package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDigitsFollowTheInterval(t *testing.T) {
	for _, c := range []struct {
		us, low, high float64
		value, ci     string
	}{
		{11.2345, 11.20, 11.31, "11.23 µs", "11.20–11.31"},        // ±0.055: one digit of it
		{11.2342, 11.21, 11.25, "11.234 µs", "11.210–11.250"},     // ±0.02: two digits
		{292.4, 288.7, 296.8, "292 µs", "289–297"},                // ±4
		{0.4321, 0.4310, 0.4335, "432.1 ns", "431.0–433.5"},       // below a microsecond
		{60934.2, 60600, 62100, "60.9 ms", "60.6–62.1"},           // milliseconds
		{1593100, 1592990, 1593210, "1.5931 s ", "1.5930–1.5932"}, // five digits at most
		{5, 5, 5, "5.000 µs", "5.000–5.000"},                      // no spread: four digits
	} {
		u := unitFor(c.us)
		value, ci := timeText(c.us, &c.low, &c.high, u, timeDecimals(c.us, &c.low, &c.high, u))
		if value != c.value || ci != c.ci {
			t.Errorf("%g [%g, %g]: %q %q, want %q %q", c.us, c.low, c.high, value, ci, c.value, c.ci)
		}
	}
}

func TestCommonUnit(t *testing.T) {
	for _, c := range []struct {
		us     []float64
		unit   string
		common bool
	}{
		{[]float64{4.5, 11}, "µs", true},
		{[]float64{0.5, 11}, "ns", false}, // 11000 ns would need more than three digits
		{[]float64{0.5, 0.9}, "ns", true},
		{[]float64{800, 1200}, "µs", false},
		{[]float64{5, 60000}, "µs", false},
	} {
		u, ok := commonUnit(c.us)
		if ok != c.common || ok && u.name != c.unit {
			t.Errorf("%v: %s, %v; want %s, %v", c.us, u.name, ok, c.unit, c.common)
		}
	}
}

func TestAlign(t *testing.T) {
	got := alignDecimals([]string{"1", "0.9982", "12.5", "–", "<0.001"})
	want := []string{" 1     ", " 0.9982", "12.5   ", "      –", "<0.001 "}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	got = alignRanges([]string{"9–10.25", "11.07–11.3", ""})
	for i, want := range []string{"    9–10.25", "11.07–11.3 ", "           "} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}

func TestSmallTexts(t *testing.T) {
	for got, want := range map[string]string{
		percent(0.02): "2.0 %", percent(0.0018): "0.18 %", percent(1.66): "166 %", percent(0): "0 %",
		pText(0.0004): "<0.001", pText(0.0123): "0.012", pText(0.9): "0.90",
		bytesText(999): "999 B", bytesText(25_168_896): "25.2 MB", bytesText(4096): "4.10 kB",
		countText(28_311_552, "FLOP"): "28.3 MFLOP", countText(12, "FLOP"): "12 FLOP",
		superscript([]int{1, 12}): "¹ ¹²", rateText(1838.4): "1838", rateText(0.4127): "0.413",
		shape([3]uint32{24, 4096, 1}): "24×4096", shape([3]uint32{7, 1, 1}): "7",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Whatever the numbers are, a written time lies within half its last digit.
func TestWrittenTimesAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Float64Range(1e-3, 1e9).Draw(t, "us")
		low := us * rapid.Float64Range(0.5, 1).Draw(t, "low")
		high := us * rapid.Float64Range(1, 2).Draw(t, "high")
		u := unitFor(us)
		value, ci := timeText(us, &low, &high, u, timeDecimals(us, &low, &high, u))
		if strings.Contains(value, "e") || len(strings.Fields(value)) != 2 || !strings.Contains(ci, "–") {
			t.Fatalf("%q %q", value, ci)
		}
		var got float64
		if _, err := fmt.Sscan(strings.Fields(value)[0], &got); err != nil {
			t.Fatal(err)
		}
		// The rounding is never more than the uncertainty, nor than 0.05 %.
		if d := got/u.perUS - us; math.Abs(d) > max((high-low)/2, 5e-4*us)*1.0001 {
			t.Fatalf("%q for %v µs [%v, %v]", value, us, low, high)
		}
	})
}
