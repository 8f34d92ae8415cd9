package sessions

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"mage/history"
	"mage/internal/printable"
	"mage/report"
)

// The figure, in pixels.
const (
	figureWidth, figureHeight = 760, 400
	plotLeft, plotRight       = 90, 740
	plotTop, plotBottom       = 70, 330
)

// Colours that colour-blind readers tell apart (Okabe and Ito, 2008).
var seriesColours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// SVG draws a kernel's time over the starts of its sessions: medians as dots,
// joined within a device and instrument, and quartiles as bars. Sessions whose
// start is not known are left out.
func SVG(w io.Writer, kernel string, series []history.Series) error {
	low, high := span(series)
	from, to := period(series)
	x := func(t time.Time) float64 {
		if !to.After(from) {
			return (plotLeft + plotRight) / 2
		}
		return plotLeft + 10 + float64(t.Sub(from))/float64(to.Sub(from))*(plotRight-plotLeft-20)
	}
	y := func(us float64) float64 {
		return plotBottom - 10 - (us-low)/(high-low)*(plotBottom-plotTop-20)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n",
		figureWidth, figureHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", figureWidth, figureHeight)
	label := func(x, y float64, anchor, text string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
	}
	label(plotLeft, 24, "start", shorten(printable.Line(kernel), 100))
	for i := range 5 {
		us := low + (high-low)*float64(i)/4
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", plotLeft, plotRight, y(us), y(us))
		label(plotLeft-8, y(us)+4, "end", strings.TrimSpace(report.Microseconds(us).Text))
	}
	if !from.IsZero() {
		label(x(from), plotBottom+20, "start", from.UTC().Format("2006-01-02 15:04"))
		if to.After(from) {
			label(x(to), plotBottom+20, "end", to.UTC().Format("2006-01-02 15:04"))
		}
	}
	for i, s := range series {
		colour := seriesColours[i%len(seriesColours)]
		var path []string
		for _, p := range s.Points {
			if p.Start.IsZero() {
				continue
			}
			at := x(p.Start)
			path = append(path, fmt.Sprintf("%.1f,%.1f", at, y(p.Median)))
			fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="%s" stroke-width="3" opacity="0.5"/>`+"\n", at, at, y(p.Low), y(p.High), colour)
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>session %d: %s</title></circle>`+"\n",
				at, y(p.Median), colour, p.Session, strings.TrimSpace(report.Microseconds(p.Median).Text))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s"/>`+"\n", strings.Join(path, " "), colour)
		row := float64(44 + 16*(i/2))
		column := float64(plotLeft + 330*(i%2))
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", column+4, row-4, colour)
		label(column+14, row, "start", place(s))
	}
	label(plotLeft, figureHeight-28, "start", "Medians with quartiles of the launches of each session, by the start of the session (UTC).")
	label(plotLeft, figureHeight-12, "start", apart)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// period is from the first to the last start that is known.
func period(series []history.Series) (from, to time.Time) {
	for _, s := range series {
		for _, p := range s.Points {
			if p.Start.IsZero() {
				continue
			}
			if from.IsZero() || p.Start.Before(from) {
				from = p.Start
			}
			if p.Start.After(to) {
				to = p.Start
			}
		}
	}
	return from, to
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
