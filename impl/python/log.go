package python

import (
	"io"
	"strings"

	"mage/internal/tail"
)

// follow copies what a worker prints until it ends.
func follow(r io.ReadCloser, log *tail.Log, done chan<- struct{}) {
	_, _ = io.Copy(log, r)
	_ = r.Close()
	close(done)
}

// lastLine returns the line of a log that says most about its end: the error of
// which Python's fault handler prints the stacks, else the last one.
func lastLine(log string) string {
	const fatal = "Fatal Python error: "
	if at := strings.LastIndex("\n"+log, "\n"+fatal); at >= 0 {
		log, _, _ = strings.Cut(log[at:], "\n")
	}
	return tail.Line(log)
}
