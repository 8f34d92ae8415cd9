package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"mage/experiment"
)

// progress shows what a run is doing: one line that is rewritten on a terminal,
// plain lines elsewhere. It writes between measurements only.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	cases    int
	index    int
	id       string
	round    string
	shown    bool // a rewritable line is on the screen
	lastRow  time.Time
	lastStep time.Time
}

var _ experiment.Progress = (*progress)(nil)

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, width: 80}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			p.width = width
		}
	}
	return p
}

func (p *progress) Started(dir string, cases int) {
	p.cases = cases
	p.line(fmt.Sprintf("Recording %d cases in %s", cases, relative(dir)))
}

func (p *progress) Case(index int, id string) {
	p.index, p.id, p.round = index, id, ""
	if !p.terminal {
		p.lastStep = time.Now()
		p.line(fmt.Sprintf("[%d/%d] %s", index+1, p.cases, id))
	}
}

// stepEvery is how often steps are told where lines cannot be rewritten: those that
// take long, so that nobody takes them for a standstill.
const stepEvery = 10 * time.Second

func (p *progress) Step(what string) {
	switch {
	case p.terminal:
		p.rewrite(what)
	case time.Since(p.lastStep) > stepEvery:
		p.lastStep = time.Now()
		p.line("      " + what)
	}
}

func (p *progress) Round(round, of int, disturbed []string, left time.Duration) {
	p.round = fmt.Sprintf("round %d/%d", round, of)
	if left > 0 {
		p.round += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	if len(disturbed) > 0 {
		p.round += " (disturbed)"
	}
	switch {
	case p.terminal:
		p.rewrite("")
	case time.Since(p.lastRow) > 5*time.Second || round == of:
		p.lastRow = time.Now()
		p.line("      " + p.round)
	}
}

func (p *progress) Note(line string) { p.line(line) }

// Close leaves the cursor at the start of an empty line.
func (p *progress) Close() { p.clear() }

func (p *progress) line(s string) {
	p.clear()
	fmt.Fprintln(p.w, s)
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) rewrite(step string) {
	parts := []string{fmt.Sprintf("[%d/%d] %s", p.index+1, p.cases, p.id)}
	for _, s := range []string{p.round, step} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	text := []rune(strings.Join(parts, " · "))
	if len(text) >= p.width {
		text = append(text[:p.width-2], '…')
	}
	fmt.Fprint(p.w, "\r\x1b[K"+string(text))
	p.shown = true
}
