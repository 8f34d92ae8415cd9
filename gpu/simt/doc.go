// Package simt implements gpu.Device without a GPU: it executes the PTX that the
// GPU would, on the CPU. It measures no time. What it offers instead is a verdict:
// findings (accesses out of bounds, races, reads of what nothing wrote, barriers
// that diverge) and exact, reproducible counters of what a kernel asks of memory.
//
// Work queued on a stream runs when the stream is synchronized, as late as a GPU
// might. Everything that needs a clock returns an *unavailable.Error.
//
// It must not know contracts, kernels as data, timing modes or statistics. Its
// parts: ptx reads the text, program prepares it, lanes computes, memory holds
// global memory, exec executes.
package simt
