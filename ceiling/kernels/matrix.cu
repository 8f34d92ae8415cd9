// Matrix products of one warp by mma.sync, dense, with operands in registers: D += A B
// with accumulators of 32 bits. All warps have the same A and B of small integers, so
// that D is exact.

#define KERNEL extern "C" __global__ void

typedef unsigned int word;

// What A and B hold; k runs to 16, or to 8 for TF32.
__device__ int element_a(int i, int k) { return (i * 7 + k * 13 + 5) % 15 - 7; }
__device__ int element_b(int k, int j) { return (k * 11 + j * 3 + 2) % 13 - 6; }

struct F16 { static const int K = 16; };
struct BF16 { static const int K = 16; };
struct TF32 { static const int K = 8; };

__device__ word half_of(int v) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"((float)v));
    return h;
}
__device__ word bfloat_of(int v) { return __float_as_uint((float)v) >> 16; } // exact below 256

__device__ word pack(F16, int low, int high) { return half_of(low) | half_of(high) << 16; }
__device__ word pack(BF16, int low, int high) { return bfloat_of(low) | bfloat_of(high) << 16; }

// The fragments of a lane: PTX ISA, "Matrix fragments for mma.m16n8k16" and ".m16n8k8".
template <typename T>
__device__ void fragments(T t, word a[4], word b[2]) {
    const int group = threadIdx.x % 32 / 4, in = threadIdx.x % 4;
    for (int r = 0; r < 4; ++r) {
        const int i = group + r % 2 * 8, k = in * 2 + r / 2 * 8;
        a[r] = pack(t, element_a(i, k), element_a(i, k + 1));
    }
    for (int r = 0; r < 2; ++r) {
        const int k = in * 2 + r * 8;
        b[r] = pack(t, element_b(k, group), element_b(k + 1, group));
    }
}
__device__ void fragments(TF32, word a[4], word b[2]) {
    const int group = threadIdx.x % 32 / 4, in = threadIdx.x % 4;
    for (int r = 0; r < 4; ++r) a[r] = __float_as_uint((float)element_a(group + r % 2 * 8, in + r / 2 * 4));
    for (int r = 0; r < 2; ++r) b[r] = __float_as_uint((float)element_b(in + r * 4, group));
}

#define MULTIPLY(T, SHAPE, NAME)                                                                          \
    __device__ void multiply(T, float d[4], const word a[4], const word b[2]) {                           \
        asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." NAME "." NAME ".f32 "                      \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                    \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                     \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                 \
    }

MULTIPLY(F16, "m16n8k16", "f16")
MULTIPLY(BF16, "m16n8k16", "bf16")
MULTIPLY(TF32, "m16n8k8", "tf32")

// C accumulators that do not wait for each other, from c. Lanes write the sum of each
// of their four elements over the accumulators: out has 16 × 8 words per warp.
template <int C, typename T>
__device__ void products(T t, word steps, int* out) {
    word a[4], b[2];
    fragments(t, a, b);
    float d[C][4];
#pragma unroll
    for (int c = 0; c < C; ++c) d[c][0] = d[c][1] = d[c][2] = d[c][3] = (float)c;
#pragma unroll 4
    for (word step = 0; step < steps; ++step)
#pragma unroll
        for (int c = 0; c < C; ++c) multiply(t, d[c], a, b);
    int* mine = out + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 128;
    for (int r = 0; r < 4; ++r) {
        int total = 0;
        for (int c = 0; c < C; ++c) total += __float2int_rn(d[c][r]);
        mine[(threadIdx.x % 32 / 4 + r / 2 * 8) * 8 + threadIdx.x % 4 * 2 + r % 2] = total;
    }
}

KERNEL mma_f16(word steps, int* out) { products<8>(F16(), steps, out); }
KERNEL mma_bf16(word steps, int* out) { products<8>(BF16(), steps, out); }
KERNEL mma_tf32(word steps, int* out) { products<8>(TF32(), steps, out); }
