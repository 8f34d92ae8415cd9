// Package explain says why one kernel may be faster than another, without a GPU: it
// runs both on the simulator, sets what they cost side by side, names the
// differences that matter in plain words, and points to the instructions behind
// them.
//
// It measures no time, and claims none: a counter is a reason, not a result. It
// must not know records, experiments or the command line.
package explain
