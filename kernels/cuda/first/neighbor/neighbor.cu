// Y_if = Σ_{e in row i} w_e · X_{s_e,f}: X is N×F, the edges of row i are
// rowptr[i] … rowptr[i+1]−1, edge e has weight b[e] and source row indices[e].
//
// One thread per (row, feature) adds one edge at a time. Threads of a row walk
// the same edges and read adjacent features, so reads of X are contiguous. No
// atomics: each output has one writer, and the order of addition is fixed.

extern "C" __global__ void neighbor(const float* __restrict__ a, const float* __restrict__ b,
                                    const unsigned* __restrict__ rowptr,
                                    const unsigned* __restrict__ indices, float* __restrict__ out,
                                    unsigned count, unsigned F) {
    // Unsigned: count is below 2³¹, but the last block may pass it.
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const unsigned row = i / F, feature = i % F;
    const unsigned end = rowptr[row + 1];
    float sum = 0.0f;
    for (unsigned e = rowptr[row]; e < end; e++) {
        sum += b[e] * a[indices[e] * F + feature];
    }
    out[i] = sum;
}
