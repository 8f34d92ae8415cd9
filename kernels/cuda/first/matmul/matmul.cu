// C = A·B: A is M×K, B is K×N, C is M×N, all row-major.
//
// The textbook step beyond one thread per output reading global memory alone: a
// block computes a 16×16 tile of C, one output per thread, and walks K in tiles
// of 16 that the whole block stages in shared memory. Each staged value is used
// 16 times, so global traffic falls 16-fold.

static constexpr unsigned TILE = 16;

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ out, unsigned M, unsigned N, unsigned K) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    // The tiles of C are numbered along one grid dimension: only x reaches 2³¹−1,
    // and y would end at 65535 tiles of rows.
    const unsigned tiles_n = (N + TILE - 1) / TILE;
    const unsigned tx = threadIdx.x, ty = threadIdx.y;
    const unsigned row = blockIdx.x / tiles_n * TILE + ty;
    const unsigned col = blockIdx.x % tiles_n * TILE + tx;

    float sum = 0.0f;
    for (unsigned k0 = 0; k0 < K; k0 += TILE) {
        // Elements outside the matrices are staged as zero, so the inner loop
        // needs no bounds and every thread reaches both barriers.
        tile_a[ty][tx] = row < M && k0 + tx < K ? a[row * K + k0 + tx] : 0.0f;
        tile_b[ty][tx] = col < N && k0 + ty < K ? b[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();  // both tiles are complete before anyone reads them
        for (unsigned k = 0; k < TILE; k++) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();  // everyone has read them before they are overwritten
    }
    if (row < M && col < N) {
        out[row * N + col] = sum;
    }
}
