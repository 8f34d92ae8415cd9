package sessions_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"mage/history"
	"mage/report/sessions"
)

func TestSVG(t *testing.T) {
	point := func(day int, median float64) history.Point {
		return history.Point{Session: int64(day), Start: start.AddDate(0, 0, day), Low: median - 1, Median: median, High: median + 1}
	}
	var b strings.Builder
	err := sessions.SVG(&b, "void f<float>(T1 & x)", []history.Series{
		{Device: "H200", Instrument: "nsys", Points: []history.Point{point(0, 11), point(5, 19), {Session: 9, Median: 12, Low: 12, High: 12}}},
		{Device: "H200", Instrument: "ncu", Points: []history.Point{point(10, 15)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var figure struct {
		Circles []struct {
			X    float64 `xml:"cx,attr"`
			Y    float64 `xml:"cy,attr"`
			Tell string  `xml:"title"`
		} `xml:"circle"`
		Texts []string `xml:"text"`
		Lines []struct {
			Points string `xml:"points,attr"`
		} `xml:"polyline"`
	}
	if err := xml.Unmarshal([]byte(b.String()), &figure); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	var dots [][2]float64
	for _, c := range figure.Circles {
		if c.Tell != "" {
			dots = append(dots, [2]float64{c.X, c.Y})
		}
	}
	// Times 10 to 20 µs over ten days: the ends of both axes, and the middle of each.
	want := [][2]float64{{100, 296}, {415, 104}, {730, 200}}
	if len(dots) != 3 || dots[0] != want[0] || dots[1] != want[1] || dots[2] != want[2] {
		t.Errorf("%v, want %v", dots, want)
	}
	if len(figure.Lines) != 2 || figure.Lines[0].Points != "100.0,296.0 415.0,104.0" || figure.Lines[1].Points != "730.0,200.0" {
		t.Errorf("series are joined: %+v", figure.Lines)
	}
	texts := strings.Join(figure.Texts, "\n")
	for _, want := range []string{"void f<float>(T1 & x)", "10.00 µs", "20.00 µs", "2026-09-10 10:15", "2026-09-20 10:15", "H200, read with ncu", "never averaged"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no %q in %q", want, texts)
		}
	}
	// One session, without a time of its own, makes a figure as well.
	b.Reset()
	if err := sessions.SVG(&b, "k", []history.Series{{Points: []history.Point{{Session: 1, Start: time.Time{}}}}}); err != nil || strings.Contains(b.String(), "NaN") {
		t.Error(err, &b)
	}
}
