package python

import (
	"io"
	"strings"
	"sync"
)

// tailBytes is how much of a worker's output is kept.
const tailBytes = 64 << 10

// outputLog keeps the end of what a worker prints.
type outputLog struct {
	mu   sync.Mutex
	tail []byte
}

// Write never fails.
func (l *outputLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p...)
	if n := len(l.tail) - tailBytes; n > 0 {
		l.tail = append(l.tail[:0], l.tail[n:]...)
	}
	return len(p), nil
}

func (l *outputLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.tail)
}

// follow copies from r until it ends.
func (l *outputLog) follow(r io.ReadCloser, done chan<- struct{}) {
	_, _ = io.Copy(l, r)
	_ = r.Close()
	close(done)
}

// lastLine returns the line of a log that says most about its end, shortened: the
// error of which Python's fault handler prints the stacks, else the last line that
// says something.
func lastLine(log string) string {
	last, fatal := "", ""
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		if strings.HasPrefix(line, "Fatal Python error: ") {
			fatal = line
		}
	}
	if fatal != "" {
		last = fatal
	}
	if len(last) > 200 {
		last = last[:200] + "…"
	}
	return strings.ToValidUTF8(last, "?")
}
