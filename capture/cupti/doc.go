// Package cupti traces any CUDA program on Linux without Nsight Systems. The CUDA
// driver loads a small library, inject/inject.c, into the program (and into the programs
// that it starts); that one asks NVIDIA's CUPTI for the activity of the process
// and appends it to a text file, which this package reads.
//
// The library is embedded as built for linux/amd64 and compiled by the machine's
// C compiler elsewhere. It needs CUPTI of CUDA 12.4 or later, whose records have
// begun alike ever since.
//
// Kernels of a CUDA graph are traced one by one, with the node's identity, which
// lengthens the gaps between them; only durations mean something. A program that
// uses CUPTI itself (torch.profiler does) cannot be traced at the same time.
package cupti
