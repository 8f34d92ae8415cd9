package sessions_test

import (
	"strings"
	"testing"
	"time"

	"mage/history"
	"mage/report"
	"mage/report/sessions"
)

func ptr[T any](v T) *T { return &v }

var start = time.Date(2026, 9, 10, 10, 15, 0, 0, time.UTC)

func draw(t *testing.T, tables ...report.Table) string {
	t.Helper()
	var b strings.Builder
	if err := report.Draw(&b, report.TableFormat, tables, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlot(t *testing.T) {
	point := func(id int64, low, median, high float64) history.Point {
		return history.Point{Session: id, Start: start.AddDate(0, 0, int(id)), Calls: 3, Low: low, Median: median, High: high, Min: low - 1, Max: high + 100}
	}
	got := draw(t, sessions.Plot("gelu", []history.Series{
		{Device: "H200", Instrument: "nsys", Points: []history.Point{point(1, 10, 12, 14), point(2, 14, 15, 18)}},
		{Device: "H200", Instrument: "cuda-event", Points: []history.Point{point(3, 16, 16, 16)}},
	})...)
	want := `gelu
H200, read with nsys
session  started (UTC)        10.00 µs                         18.00 µs    median       min       max  calls
      1  2026-09-11 10:15:00  ━━━━━━━━━━●━━━━━━━━━━                      12.00 µs  9.000 µs  114.0 µs      3
      2  2026-09-12 10:15:00                      ━━━━━●━━━━━━━━━━━━━━━  15.00 µs  13.00 µs  118.0 µs      3

H200, read with cuda-event
session  started (UTC)        10.00 µs                         18.00 µs    median       min       max  calls
      3  2026-09-13 10:15:00                                ●            16.00 µs  15.00 µs  116.0 µs      3
● median of the launches, ━ lower to upper quartile.
Times of different sessions or instruments are listed side by side; they are never averaged together or subtracted.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlotFromZero(t *testing.T) {
	one := func(us float64) string {
		return draw(t, sessions.Plot("k", []history.Series{{Points: []history.Point{{Session: 1, Calls: 1, Low: us, Median: us, High: us, Min: us, Max: us}}}})...)
	}
	// A single time has no range of its own: the axis begins at zero.
	if got := one(5); !strings.Contains(got, "0 ns") || !strings.Contains(got, "5.000 µs") || !strings.Contains(got, "unknown device, read with an unknown instrument") {
		t.Error(got)
	}
	if got := one(0); !strings.Contains(got, "●") {
		t.Error(got)
	}
}

func TestShow(t *testing.T) {
	grid := history.Dim3{3072, 1, 1}
	got := draw(t, sessions.Show(
		history.Session{ID: 3, Command: "python x.py\x1b[31m", Start: start, Device: "NVIDIA H200", Backend: "ncu"},
		[]history.Kernel{{Name: "gelu", Calls: 2, Total: 10, Mean: 5, Min: 4.5, Max: 5.5, Share: 0.25, Grid: &grid, Registers: ptr(int64(32)),
			Counters: []history.Counter{{Name: "occupancy", Mean: 0.75, Calls: 1}, {Name: "dram_read_bytes", Mean: 12582912, Calls: 2}}},
			{Name: "other", Calls: 1, Total: 30, Mean: 30, Min: 30, Max: 30, Share: 0.75}}, 0)...)
	for _, want := range []string{"session 3\n", "python x.py\n", "instrument  ncu", "kernels: read with ncu",
		"gelu        2  10.00 µs   25 %  5.000 µs  4.500 µs  5.500 µs  3072         32       75 %  12.6 MB",
		"other       1  30.00 µs   75 %  30.00 µs  30.00 µs  30.00 µs     –          –          –        –",
		"Counters are means over the launches that reported them"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"L1 hits", "written", "\x1b", "block"} {
		if strings.Contains(got, no) {
			t.Errorf("%q in\n%s", no, got)
		}
	}
}

func TestList(t *testing.T) {
	got := draw(t, sessions.List([]history.Summary{
		{Session: history.Session{ID: 2, Command: "a", Start: start, End: start.Add(1500 * time.Millisecond), Backend: "triton", Outcome: "failed: exit code 1"}},
		{Session: history.Session{ID: 1, Command: "b"}, Kernels: 1, Launches: 3, TotalUS: 2500}}))
	for _, want := range []string{"2 sessions\n", " 2  2026-09-10 10:15:00  1.500 s   triton   cuda-event  a              0         0            –  failed: exit code 1",
		" 1  –                           –  –        –           b              1         3     2.500 ms  –", "never averaged together"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
