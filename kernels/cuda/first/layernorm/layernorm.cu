// y = (x − mean) / √(variance + 1e-5) · gamma + beta, for each row of x (R×D);
// the variance is centred and its divisor is D. gamma and beta are D long.
//
// One block of 256 threads owns a row. The row is read three times (mean,
// variance, result); the second and third reads come from cache for rows that
// fit. Two passes, because E[x²] − mean² cancels badly when |mean| ≫ deviation.

static constexpr unsigned THREADS = 256;

// block_sum returns the sum of value over the block to every thread: a tree in
// shared memory that halves the number of active threads at each step.
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
    const float sum = scratch[0];
    __syncthreads();  // everyone has read the sum before scratch is used again
    return sum;
}

extern "C" __global__ void layernorm(const float* __restrict__ a, const float* __restrict__ b,
                                     const float* __restrict__ c, float* __restrict__ out,
                                     unsigned D) {
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
