// Package tritonhook times the Triton kernels of a Python script inside its own
// process, with CUDA events around every launch: the backend for machines where no
// profiler is allowed. It runs the script as Python would, on the interpreter's own
// packages; runner holds the Python side.
//
// A time is the span between two events, from when the device is ready for the
// kernel to when it is done. Where the device waits for the host it contains that
// wait, so it is longer than the kernel; docs/profiling.md says by how much.
// Launches inside a CUDA graph's capture are counted without a time.
package tritonhook
