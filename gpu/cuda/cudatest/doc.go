// Package cudatest builds and controls a stand-in for the CUDA driver, for tests
// on machines without a GPU. The stand-in runs in host memory and computes the
// few kernels that KernelsPTX names; it proves how a caller keeps the driver's
// contract, never that a kernel is right or fast.
//
// It must not know gpu/cuda, which is tested with it.
package cudatest
