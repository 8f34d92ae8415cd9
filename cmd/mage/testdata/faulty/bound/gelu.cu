// gelu with a defect for tests: the bound lets one thread too many through, which
// reads past a and writes past out.
extern "C" __global__ void gelu_bound(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ out, unsigned count, unsigned D) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count) {
        return;
    }
    const float z = a[i] + b[i % D];
    out[i] = 0.5f * z * (1.0f + tanhf(0.7978845608028654f * (z + 0.044715f * z * z * z)));
}
