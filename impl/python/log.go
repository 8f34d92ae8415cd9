package python

import (
	"io"
	"os"
	"strings"
	"sync"
)

// tailBytes is how much of a worker's output is kept in memory.
const tailBytes = 64 << 10

// outputLog keeps what a worker prints: all of it in a file, the end of it here.
type outputLog struct {
	mu   sync.Mutex
	file *os.File // nil: memory only
	tail []byte
}

func newOutputLog(path string) (*outputLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &outputLog{file: f}, err
}

// Write never fails: a full disk must not stop a measurement.
func (l *outputLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_, _ = l.file.Write(p)
	}
	l.tail = append(l.tail, p...)
	if n := len(l.tail) - tailBytes; n > 0 {
		l.tail = append(l.tail[:0], l.tail[n:]...)
	}
	return len(p), nil
}

// String returns what is kept in memory.
func (l *outputLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.tail)
}

// last returns the last line that says something, shortened.
func (l *outputLog) last() string {
	lines := strings.Split(l.String(), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); s != "" {
			if len(s) > 200 {
				s = s[:200] + "…"
			}
			return strings.ToValidUTF8(s, "?")
		}
	}
	return ""
}

func (l *outputLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// follow copies from r until it ends.
func (l *outputLog) follow(r io.ReadCloser, done chan<- struct{}) {
	_, _ = io.Copy(l, r)
	_ = r.Close()
	close(done)
}
