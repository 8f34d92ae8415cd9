// O_ijc = Σ_k A_ikc · B_jkc: A, B and O are N×N×C, row-major.
//
// Each channel c is a product A_c · B_cᵀ of N×N matrices whose elements lie C
// apart. It is computed as in the tiled matmul: a block per channel and 16×16
// tile of O, one output per thread, k in tiles of 16 staged in shared memory.

static constexpr unsigned TILE = 16;

extern "C" __global__ void triangle(const float* __restrict__ a, const float* __restrict__ b,
                                    float* __restrict__ out, unsigned N, unsigned C) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    // The channel is grid x, which reaches 2³¹−1: y and z end at 65535, enough
    // for tiles of N (N² is below 2³¹). Neighbouring blocks then share sectors of
    // memory, since channels are adjacent there.
    const unsigned channel = blockIdx.x;
    const unsigned j0 = blockIdx.y * TILE, i0 = blockIdx.z * TILE;
    const unsigned tx = threadIdx.x, ty = threadIdx.y;

    float sum = 0.0f;
    for (unsigned k0 = 0; k0 < N; k0 += TILE) {
        // Outside the matrices zero is staged, so every thread reaches both
        // barriers and the inner loop needs no bounds.
        const unsigned k = k0 + tx;
        tile_a[ty][tx] = i0 + ty < N && k < N ? a[((i0 + ty) * N + k) * C + channel] : 0.0f;
        tile_b[ty][tx] = j0 + ty < N && k < N ? b[((j0 + ty) * N + k) * C + channel] : 0.0f;
        __syncthreads();  // both tiles are complete before anyone reads them
        for (unsigned kk = 0; kk < TILE; kk++) {
            sum += tile_a[ty][kk] * tile_b[tx][kk];
        }
        __syncthreads();  // everyone has read them before they are overwritten
    }
    const unsigned i = i0 + ty, j = j0 + tx;
    if (i < N && j < N) {
        out[(i * N + j) * C + channel] = sum;
    }
}
