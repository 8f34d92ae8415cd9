// Package cuda implements gpu.Device with the CUDA driver API, compiles CUDA C++
// with NVRTC, and reads NVML and CUPTI. Every library is found and loaded at run
// time, so the binary builds without cgo and runs on a machine without a GPU:
// there Open returns an *unavailable.Error.
//
// A Device and all that is made from it belong to the goroutine that opened it.
// Open locks that goroutine to its thread, because the driver's current context
// is a property of a thread; Close unlocks it. Submitting bound launches,
// recording events and replaying graphs allocate nothing.
//
// It must not know contracts, kernels as data, timing modes or statistics.
package cuda
