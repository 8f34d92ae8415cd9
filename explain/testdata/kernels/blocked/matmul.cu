// C = A·B with 64×64 tiles of C and 4×4 outputs per thread, 16 apart.

static constexpr unsigned TILE = 64, DEPTH = 16;

extern "C" __global__ void blocked(const float* __restrict__ a, const float* __restrict__ b,
                                   float* __restrict__ out, unsigned M, unsigned N, unsigned K) {
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const unsigned tiles_n = (N + TILE - 1) / TILE;
    const unsigned tx = threadIdx.x, ty = threadIdx.y;
    const unsigned row0 = blockIdx.x / tiles_n * TILE, col0 = blockIdx.x % tiles_n * TILE;
    float sum[4][4] = {};
    for (unsigned k0 = 0; k0 < K; k0 += DEPTH) {
        for (unsigned i = 0; i < 4; i++) {
            const unsigned row = row0 + ty + 16 * i, col = col0 + tx + 16 * i;
            tile_a[ty + 16 * i][tx] = row < M && k0 + tx < K ? a[row * K + k0 + tx] : 0.0f;
            tile_b[ty][tx + 16 * i] = col < N && k0 + ty < K ? b[(k0 + ty) * N + col] : 0.0f;
        }
        __syncthreads();
        for (unsigned k = 0; k < DEPTH; k++) {
            float x[4], y[4];
            for (unsigned i = 0; i < 4; i++) {
                x[i] = tile_a[ty + 16 * i][k];
                y[i] = tile_b[k][tx + 16 * i];
            }
            for (unsigned i = 0; i < 4; i++) {
                for (unsigned j = 0; j < 4; j++) {
                    sum[i][j] += x[i] * y[j];
                }
            }
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 4; j++) {
            const unsigned row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < M && col < N) {
                out[row * N + col] = sum[i][j];
            }
        }
    }
}
