// Kernels that use one feature each. Every kernel k_* gets 256 floats of input, room
// for 256 floats of output that holds zeros, and a counter that is zero; it runs as
// 2 blocks of 128 threads.
#include <cuda_fp16.h>
#include <mma.h>
#include <cuda_bf16.h>
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(128) k_##name(const float* in, float* out, unsigned* counter)
#define I (blockIdx.x * 128 + threadIdx.x)

// The last block to finish adds up what the others left.
KERNEL(last_block) {
    __shared__ float sum[128];
    __shared__ bool last;
    sum[threadIdx.x] = in[I];
    for (int n = 64; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x < n) sum[threadIdx.x] += sum[threadIdx.x + n];
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum[0];
        __threadfence();
        last = atomicAdd(counter, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (int i = 0; i < gridDim.x; i++) all += out[i];
        out[255] = all;
    }
}

KERNEL(warp_sum) {
    float v = in[I];
    for (int n = 16; n > 0; n /= 2) v += __shfl_xor_sync(~0u, v, n);
    out[I] = v;
}

__device__ __noinline__ float chosen(int how, float x) {
    switch (how) {
        case 0: return x + 1;
        case 1: return x * 2;
        case 2: return -x;
        case 3: return x * x;
        case 4: return fabsf(x) + 3;
        case 5: return 7;
        default: return 0;
    }
}
KERNEL(device_function) { out[I] = chosen(threadIdx.x % 8, in[I]); }

KERNEL(half2_math) {
    __half2 a = __float2half2_rn(in[I]);
    __half2 b = __hfma2(a, a, __float2half2_rn(1.0f));
    out[I] = __low2float(b) + __high2float(b);
}

KERNEL(bf16_math) { out[I] = __bfloat162float(__hadd(__float2bfloat16(in[I]), __float2bfloat16(1.0f))); }

KERNEL(double_math) { out[I] = (float)(sqrt((double)in[I] * in[I] + 1.0) / 3.0 + exp((double)in[I]) * 1e-3); }

KERNEL(functions) { out[I] = expf(in[I]) + logf(fabsf(in[I]) + 1) + sinf(in[I]) + powf(fabsf(in[I]), 1.5f) + erff(in[I]); }

KERNEL(integers) {
    long long v = (long long)(in[I] * 1000) * 123456789LL;
    out[I] = (float)(v % 1000003LL) + (float)(v / 977LL % 101) + __popcll(v) + __clz((int)v) + __brev((unsigned)v) % 17;
}

KERNEL(local_array) {
    float a[9];
    for (int i = 0; i < 9; i++) a[i] = in[(I + i) % 256];
    float s = 0;
    for (int i = 0; i < 9; i++) s += a[(threadIdx.x + i * i) % 9] * i;
    out[I] = s;
}

__constant__ float table[4] = {1, 10, 100, 1000};
KERNEL(constants) { out[I] = in[I] * table[threadIdx.x % 4]; }

KERNEL(histogram) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x * 7 % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], (float)bins[threadIdx.x]);
}

// Transposed through shared memory of 32 columns, or 33 to avoid conflicts.
template <int W> __device__ void transpose(const float* in, float* out) {
    __shared__ float tile[4][W];
    __shared__ float square[32][W];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int r = y; r < 32; r += 4) square[r][x] = in[(r * 32 + x) % 256];
    __syncthreads();
    float s = 0;
    for (int c = y; c < 32; c += 4) s += square[x][c] * (c + 1);
    tile[y][x] = s;
    __syncthreads();
    out[I] = tile[y][x];
}
KERNEL(transpose_conflicts) { transpose<32>(in, out); }
KERNEL(transpose_padded) { transpose<33>(in, out); }

KERNEL(async_copy) {
    __shared__ __align__(16) float s[256];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[2 * threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(in + 2 * threadIdx.x));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    out[I] = s[255 - I];
}

KERNEL(print) {
    out[I] = in[I];
    if (threadIdx.x % 64 == 1)
        printf("%s %d/%u: %6.2f|%-8.3e|%g %lld 0x%04X %c %% %hhd\n", "block", (int)blockIdx.x, threadIdx.x, in[I], 1.5, 0.25, 1ll << 40, 255, 'q', 513);
}

// A row-major times B column-major, and their product added to itself.
KERNEL(wmma) {
    __shared__ __align__(32) __half a[256], b[256];
    __shared__ __align__(32) float c[256];
    a[I] = __float2half(in[I]);
    b[I] = __float2half(in[255 - I]);
    a[(I + 128) % 256] = __float2half(in[(I + 128) % 256]);
    b[(I + 128) % 256] = __float2half(in[255 - (I + 128) % 256]);
    __syncthreads();
    if (threadIdx.x < 32) {
        using namespace nvcuda;
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::fill_fragment(fc, 1.0f);
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
        __syncwarp();
        wmma::load_matrix_sync(fc, c, 16, wmma::mem_col_major);
        __syncwarp();
        for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    }
    __syncthreads();
    out[I] = c[I];
}
