// Package capture runs a program under a profiler and keeps what that saw: a
// directory of its own with the native report, the program's output, the exact
// command line, and every kernel launch as JSON and CSV.
//
// A Backend knows one profiler: how to start it on a program, and how to read
// what it leaves. Its subpackages are nsys, ncu, sanitizer, cupti and tritonhook;
// which of them exist is the caller's business. A backend reports what was
// measured and nothing else: what a profiler did not say stays missing.
//
// It must not know experiments, statistics or terminals; of records it knows the
// form in which they keep a capture.
package capture
