// Package doctor examines what this machine offers to a kernel experiment: the
// NVIDIA driver and its devices, the simulator, CUDA libraries, profilers, Python with
// torch and triton, Rust for GPUs, a C compiler and the processor.
//
// Each item is found, with its version, or unavailable, with the reason and what
// would make it available. Nothing is guessed from the presence of a file:
// libraries are loaded and programs are run, each with a deadline.
//
// It must not know experiments or how findings are shown.
package doctor
