// Package python runs implementations in PyTorch and Triton inside a worker: one
// Python process per run, kept alive between requests, so that its arms
// interleave with all others in one session.
//
// Requests and answers are JSON lines on descriptors of their own; arrays travel
// in memory that both processes share; what libraries print is kept as a log. A
// worker that crashes or hangs is ended with everything it started, the arm that
// was being served fails, and a fresh worker serves the others.
//
// It must not know experiments, records or statistics. docs/python.md explains
// how the gate and the timing modes keep their meaning in Python.
package python
