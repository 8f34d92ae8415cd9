package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"mage/capture"
	"mage/report"
	"mage/report/profile"
)

// watcher shows what a capture is doing: on a terminal a line that is rewritten,
// with a table of the kernels so far below it; elsewhere a line at the start, and one
// now and then.
type watcher struct {
	w        io.Writer
	what     string // "nsys · script.py"
	terminal bool
	lines    int // on the screen, to be rewritten
	phase    string
	said     time.Duration // when the last line was printed, from the start of the phase
}

// sayEvery is the time between lines that are not rewritten.
const sayEvery = 30 * time.Second

func newWatcher(w io.Writer, backend, target string) *watcher {
	_, terminal := terminalWidth(w)
	return &watcher{w: w, what: backend + " · " + target, terminal: terminal}
}

func (w *watcher) watch(st capture.Status) {
	text := fmt.Sprintf("%s · %s", w.what, st.Phase)
	if st.Elapsed >= time.Second {
		text += " " + st.Elapsed.Truncate(time.Second).String()
	}
	if st.LastLine != "" {
		text += " · " + st.LastLine
	}
	if w.terminal {
		w.draw(text, st.Seen)
		return
	}
	if w.phase == "" || st.Elapsed-w.said >= sayEvery {
		fmt.Fprintln(w.w, text)
		w.said = st.Elapsed
	} else if st.Phase != w.phase {
		w.said = 0
	}
	w.phase = st.Phase
}

// draw replaces what it drew before, in one write, so that nothing flickers.
func (w *watcher) draw(text string, seen capture.Seen) {
	width, height := 80, 24
	if f, ok := w.w.(*os.File); ok { // asked each time: the window may have changed
		if x, y, err := term.GetSize(int(f.Fd())); err == nil && x > 0 && y > 0 {
			width, height = x, y
		}
	}
	screen := []string{clip(text, width)}
	const around = 7 // the line, the title, the head and lines of the table, one to spare
	if rows := min(height-around, 10); len(seen.Busiest) > 0 && rows > 0 {
		var table bytes.Buffer
		o := report.RenderOptions{Width: width - 1, Box: true, Color: colour()}
		if err := report.Draw(&table, report.TableFormat, []report.Table{profile.Live(seen, rows, width)}, o); err == nil {
			screen = append(screen, strings.Split(strings.TrimRight(table.String(), "\n"), "\n")...)
			screen = screen[:min(len(screen), height-1)]
		}
	}
	fmt.Fprint(w.w, w.erase()+strings.Join(screen, "\r\n"))
	w.lines = len(screen)
}

// erase takes the cursor to the first line drawn and clears the rest.
func (w *watcher) erase() string {
	if w.lines > 1 {
		return fmt.Sprintf("\r\x1b[%dA\x1b[J", w.lines-1)
	}
	return "\r\x1b[J"
}

func (w *watcher) close() {
	if w.lines > 0 {
		fmt.Fprint(w.w, w.erase())
		w.lines = 0
	}
}

func clip(s string, width int) string {
	if r := []rune(s); len(r) >= width {
		return string(append(r[:max(width-2, 0)], '…'))
	}
	return s
}
