// The kernels of gpu_test.go. device.ptx is this file compiled by NVRTC for
// compute_75, with its .version lowered to the oldest that holds them, so that
// older drivers load it too.
extern "C" __global__ void axpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

// Reverses each block's 256 floats through dynamic shared memory, at its far end.
extern "C" __global__ void reverse(float *y, const float *x, int offset) {
    extern __shared__ float s[];
    s[offset + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[offset + blockDim.x - 1 - threadIdx.x];
}

// Runs for a number of clock cycles.
extern "C" __global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
}

// Writes to an address that no allocation holds.
extern "C" __global__ void poke(float *p) { *p = 1.0f; }
