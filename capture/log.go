package capture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"mage/internal/printable"
)

// What process.log keeps of one command: what was printed first, and the end. A
// program that prints without end must not fill the disk.
const (
	headBytes = 32 << 20
	tailBytes = 64 << 10
)

// runLog is process.log; it remembers the line that was written last.
type runLog struct {
	f   *os.File
	err error // the first of writing

	mu    sync.Mutex
	left  int    // bytes of the head that are free
	tail  []byte // the last of what came after the head
	cut   int64  // bytes that came between the two
	begun []byte // the last line, without an end yet
	full  string // the last line of the command that said something
}

func newLog(path string) (*runLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	return &runLog{f: f, left: headBytes}, err
}

// Write never fails: the program must not be stopped for its log.
func (l *runLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remember(p)
	head := p[:min(len(p), l.left)]
	l.left -= len(head)
	l.keep(head)
	if rest := p[len(head):]; len(rest) > 0 {
		l.tail = append(l.tail, rest...)
		if over := len(l.tail) - tailBytes; over > tailBytes {
			l.cut += int64(over)
			l.tail = append(l.tail[:0], l.tail[over:]...)
		}
	}
	return len(p), nil
}

// remember takes note of the last line.
func (l *runLog) remember(p []byte) {
	const longest = 300
	if end := bytes.LastIndexAny(p, "\r\n"); end >= 0 {
		for rest := p[:end]; ; {
			start := bytes.LastIndexAny(rest, "\r\n") + 1
			line := rest[start:]
			if start == 0 {
				line = append(l.begun, line...)
			}
			if line = bytes.TrimSpace(line); len(line) > 0 {
				l.full = printable.Line(string(line[:min(len(line), longest)]))
			}
			if len(line) > 0 || start == 0 {
				break
			}
			rest = rest[:start-1]
		}
		l.begun, p = nil, p[end+1:]
	}
	l.begun = append(l.begun, p[:min(len(p), longest-min(longest, len(l.begun)))]...)
}

func (l *runLog) keep(p []byte) {
	if l.err == nil && len(p) > 0 {
		_, l.err = l.f.Write(p)
	}
}

// begin forgets the last line of another command.
func (l *runLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun, l.full = nil, ""
}

// settle writes what is held back, when a command has ended.
func (l *runLog) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut > 0 {
		l.keep(fmt.Appendf(nil, "\n[%d bytes are left out here]\n", l.cut))
	}
	l.keep(l.tail)
	l.tail, l.cut, l.left = nil, 0, headBytes
}

// last is the last line that said something, fit for a terminal.
func (l *runLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

func (l *runLog) Close() error { return l.f.Close() }

// Tail is the end of the log of the capture in dir: its last lines, each of which
// is fit for a terminal and of a bearable length.
func Tail(dir string, lines int) []string {
	const longest = 1000
	f, err := os.Open(filepath.Join(dir, LogFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	text := make([]byte, min(info.Size(), tailBytes))
	if _, err := f.ReadAt(text, info.Size()-int64(len(text))); err != nil {
		return nil
	}
	all := bytes.Split(bytes.TrimRight(text, "\r\n"), []byte("\n"))
	var out []string
	for _, l := range all[max(0, len(all)-lines):] {
		s := []rune(printable.Line(string(l)))
		if len(s) > longest {
			s = append(s[:longest], '…')
		}
		out = append(out, string(s))
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}
