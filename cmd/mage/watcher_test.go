package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mage/capture"
)

// screen obeys what the watcher writes to a terminal.
type screen struct {
	lines []string
	x, y  int
}

var obeyed = regexp.MustCompile(`\r|\n|\x1b\[(\d*)([AJm])|\x1b\[[\d;]*m|[^\r\n\x1b]+`)

func (s *screen) write(t *testing.T, text string) {
	for _, m := range obeyed.FindAllStringSubmatch(text, -1) {
		for len(s.lines) <= s.y {
			s.lines = append(s.lines, "")
		}
		switch {
		case m[0] == "\r":
			s.x = 0
		case m[0] == "\n":
			s.y++
		case m[2] == "A":
			n, _ := strconv.Atoi(m[1])
			s.y -= n
		case m[2] == "J":
			s.lines = s.lines[:s.y+1]
			s.lines[s.y] = string([]rune(s.lines[s.y])[:s.x])
		case m[0][0] != '\x1b':
			s.lines[s.y] = string([]rune(s.lines[s.y])[:s.x]) + m[0]
			s.x += len([]rune(m[0]))
		}
		if s.y < 0 {
			t.Fatal("the cursor left the screen")
		}
	}
}

func TestWatcherOnATerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out bytes.Buffer
	s := &screen{lines: []string{"$ mage profile"}, y: 1}
	w := newWatcher(&out, "cupti", "program")
	w.terminal = true
	show := func(st capture.Status) string {
		out.Reset()
		w.watch(st)
		s.write(t, out.String())
		return strings.Join(s.lines, "\n")
	}
	if got := show(capture.Status{Phase: "capturing", LastLine: strings.Repeat("long ", 50)}); !strings.HasPrefix(got, "$ mage profile\ncupti · program · capturing · long long") || !strings.HasSuffix(got, "…") || len(s.lines) != 2 {
		t.Errorf("%s", got)
	}
	seen := capture.Seen{Launches: 60, Kernels: 20, TotalUS: 100}
	for i := range 20 {
		seen.Busiest = append(seen.Busiest, capture.Tally{Name: fmt.Sprintf("kernel_%d", i), Launches: 3, Timed: 2, TotalUS: 5})
	}
	show(capture.Status{Phase: "capturing", Elapsed: 1900 * time.Millisecond, Seen: seen})
	seen.Launches++
	got := show(capture.Status{Phase: "capturing", Elapsed: 61 * time.Second, Seen: seen})
	for _, want := range []string{"$ mage profile\ncupti · program · capturing 1m1s\n61 launches of 20 kernels so far\n", "│ kernel_9 │     3 │ 5.000 µs │ 2.500 µs │ 5.00 % │"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "kernel_10") || strings.Count(got, "capturing") != 1 || len(s.lines) > 23 {
		t.Errorf("%d lines\n%s", len(s.lines), got)
	}
	if got := show(capture.Status{Phase: "reading"}); len(s.lines) != 2 || !strings.HasSuffix(got, "\ncupti · program · reading") {
		t.Errorf("%s", got)
	}
	out.Reset()
	w.close()
	s.write(t, out.String())
	if got := strings.Join(s.lines, "\n"); got != "$ mage profile\n" || s.y != 1 {
		t.Errorf("left on the screen:\n%s", got)
	}
}

func TestWatcherElsewhere(t *testing.T) {
	var out bytes.Buffer
	w := newWatcher(&out, "nsys", "program")
	for _, st := range []capture.Status{
		{Phase: "capturing"}, {Phase: "capturing", Elapsed: 10 * time.Second}, {Phase: "capturing", Elapsed: 31 * time.Second, LastLine: "half"},
		{Phase: "capturing", Elapsed: 59 * time.Second}, {Phase: "exporting"}, {Phase: "exporting", Elapsed: 40 * time.Second}, {Phase: "reading"},
	} {
		w.watch(st)
	}
	w.close()
	want := "nsys · program · capturing\nnsys · program · capturing 31s · half\nnsys · program · exporting 40s\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
