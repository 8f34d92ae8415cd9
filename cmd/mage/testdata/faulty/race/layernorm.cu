// layernorm with a defect for tests: nothing keeps a warp from writing to scratch
// for the second sum while another still reads the first one.
static constexpr unsigned THREADS = 256;

__device__ float block_sum(float value, float* scratch) {
    const unsigned t = threadIdx.x;
    scratch[t] = value;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] += scratch[t + half];
        }
        __syncthreads();
    }
    return scratch[0];
}

extern "C" __global__ void layernorm_race(const float* __restrict__ a, const float* __restrict__ b,
                                          const float* __restrict__ c, float* __restrict__ out, unsigned D) {
    __shared__ float scratch[THREADS];
    const unsigned first = blockIdx.x * D;
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < D; i += THREADS) {
        sum += a[first + i];
    }
    const float mean = block_sum(sum, scratch) / D;
    float squares = 0.0f;
    for (unsigned i = threadIdx.x; i < D; i += THREADS) {
        const float centred = a[first + i] - mean;
        squares += centred * centred;
    }
    const float scale = rsqrtf(block_sum(squares, scratch) / D + 1e-5f);
    for (unsigned i = threadIdx.x; i < D; i += THREADS) {
        out[first + i] = (a[first + i] - mean) * scale * b[i] + c[i];
    }
}
