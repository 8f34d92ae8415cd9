// Package unavailable holds the one error that says "this machine lacks it".
//
// A mode, counter, toolchain or device that is missing is reported with its
// reason and a remedy, never guessed and never replaced by zero. The package
// sits below every other one and must know none of them.
package unavailable

import (
	"errors"
	"fmt"
)

// Error reports something that this machine does not offer.
type Error struct {
	// What is missing, in the user's words: "graph:100 on cpu", "NVRTC".
	What string
	// Reason says why: "libcuda.so.1: cannot open shared object file".
	Reason string
	// Remedy says what would make it available; empty when nothing would.
	Remedy string
}

// New returns an *Error.
func New(what, reason, remedy string) *Error {
	return &Error{What: what, Reason: reason, Remedy: remedy}
}

// Newf returns an *Error without a remedy whose reason is formatted.
func Newf(what, format string, args ...any) *Error {
	return &Error{What: what, Reason: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	s := e.What + " is unavailable: " + e.Reason
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// As returns the *Error in err's chain, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}
