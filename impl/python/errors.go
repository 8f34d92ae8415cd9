package python

import "fmt"

// Failure is a request that did not end in a result: an exception, a crash, a
// missed deadline, an answer that is none. The worker goes on, or a fresh one
// takes its place; the arm that asked does not.
type Failure struct {
	// Request says what was asked: "measure span of torch/eager gelu".
	Request string
	// Reason is one line: "OutOfMemoryError: …", "no answer within 2m0s".
	Reason string
	// Ended says that the process is gone.
	Ended bool
	// Log is the last of what the worker printed when its process ended.
	Log string
}

func (e *Failure) Error() string {
	s := fmt.Sprintf("python worker: %s: %s", e.Request, e.Reason)
	if e.Log != "" {
		s += "; it last printed: " + e.Log
	}
	return s
}
