// Package tail keeps the end of what a program prints, and finds the line in it
// that is worth quoting.
//
// It must not know which program printed it.
package tail

import (
	"strings"
	"sync"
)

// Size is how many bytes a Log keeps.
const Size = 64 << 10

// Log keeps the last Size bytes that were written to it. The zero value is empty;
// it may be used by several goroutines.
type Log struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if extra := len(l.text) - Size; extra > 0 {
		l.text = append(l.text[:0], l.text[extra:]...)
	}
	return len(p), nil
}

// String returns what is kept, as valid UTF-8.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(l.text), "?")
}

// Line returns the last line of a text that says something, without the spaces
// around it and cut to about 300 bytes.
func Line(text string) string {
	text = strings.TrimSpace(text)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	const most = 300
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return strings.ToValidUTF8(line, "?")
}
