// Matrix products of one warpgroup by wgmma, dense, with operands in shared memory:
// D += A B with D of 64 × 128 and accumulators of 32 bits. Only compute capability 9.0
// has these instructions. A and B are those of matrix.cu, with more rows and columns.

#define KERNEL extern "C" __global__ void

typedef unsigned int word;

__device__ int element_a(int i, int k) { return (i * 7 + k * 13 + 5) % 15 - 7; }
__device__ int element_b(int k, int j) { return (k * 11 + j * 3 + 2) % 13 - 6; }

struct F16 { typedef unsigned short element; };
struct BF16 { typedef unsigned short element; };
struct TF32 { typedef unsigned int element; };

__device__ unsigned short encode(F16, int v) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"((float)v));
    return h;
}
__device__ unsigned short encode(BF16, int v) { return __float_as_uint((float)v) >> 16; }
__device__ unsigned int encode(TF32, int v) { return __float_as_uint((float)v); }

// An operand lies in shared memory as core matrices of 8 rows × 16 bytes, 128 bytes
// each, without swizzle: all of the first 16 bytes along K, then the second.
#define ROWS_A 64
#define ROWS_B 128

template <typename T, bool IS_A>
__device__ void place(T t, unsigned char* to) {
    typedef typename T::element element;
    const int rows = IS_A ? ROWS_A : ROWS_B, per = 16 / sizeof(element);
    for (int n = threadIdx.x; n < rows * 2 * per; n += blockDim.x) {
        const int row = n / (2 * per), k = n % (2 * per);
        const int at = (k / per * (rows / 8) + row / 8) * 128 + row % 8 * 16 + k % per * (int)sizeof(element);
        *(element*)(to + at) = encode(t, IS_A ? element_a(row, k) : element_b(k, row));
    }
}

// PTX ISA, "Matrix descriptor": address, distance of core matrices along K, distance
// of those along the rows, all in units of 16 bytes.
__device__ unsigned long long descriptor(const unsigned char* operand, int rows) {
    const unsigned long long at = __cvta_generic_to_shared(operand);
    return (at & 0x3ffff) >> 4 | (unsigned long long)(rows * 16 >> 4) << 16 | (unsigned long long)(128 >> 4) << 32;
}

#define D64                                                                                        \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                      \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16S(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)

// Sixteen products in flight between two waits.
#define PER_WAIT 16
#define ONE(SHAPE, REST) "wgmma.mma_async.sync.aligned." SHAPE " " D64 ", %64, %65, p, 1, 1" REST ";\n"
#define FOUR(SHAPE, REST) ONE(SHAPE, REST) ONE(SHAPE, REST) ONE(SHAPE, REST) ONE(SHAPE, REST)

#define MULTIPLY(T, SHAPE, REST)                                                                              \
    __device__ void multiply(T, float d[64], unsigned long long a, unsigned long long b) {                    \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.fence.sync.aligned;\n"                    \
                     FOUR(SHAPE, REST) FOUR(SHAPE, REST) FOUR(SHAPE, REST) FOUR(SHAPE, REST)                  \
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}"                  \
                     : F16S(0), F16S(16), F16S(32), F16S(48)                                                  \
                     : "l"(a), "l"(b)                                                                         \
                     : "memory");                                                                             \
    }

MULTIPLY(F16, "m64n128k16.f32.f16.f16", ", 0, 0")
MULTIPLY(BF16, "m64n128k16.f32.bf16.bf16", ", 0, 0")
MULTIPLY(TF32, "m64n128k8.f32.tf32.tf32", "")

// A block is one warpgroup; steps are rounded down to whole groups of PER_WAIT. out
// has 64 × 128 words per block.
template <typename T>
__device__ void products(T t, word steps, int* out) {
    __shared__ __align__(128) unsigned char a[ROWS_A * 32], b[ROWS_B * 32];
    place<T, true>(t, a);
    place<T, false>(t, b);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const unsigned long long from_a = descriptor(a, ROWS_A), from_b = descriptor(b, ROWS_B);
    float d[64];
#pragma unroll
    for (int r = 0; r < 64; ++r) d[r] = 0;
    for (word step = 0; step < steps / PER_WAIT; ++step) multiply(t, d, from_a, from_b);
    int* mine = out + blockIdx.x * ROWS_A * ROWS_B;
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int r = 0; r < 64; ++r)
        mine[(row + r / 2 % 2 * 8) * ROWS_B + r / 4 * 8 + column + r % 2] = __float2int_rn(d[r]);
}

KERNEL __launch_bounds__(128) wgmma_f16(word steps, int* out) { products(F16(), steps, out); }
KERNEL __launch_bounds__(128) wgmma_bf16(word steps, int* out) { products(BF16(), steps, out); }
KERNEL __launch_bounds__(128) wgmma_tf32(word steps, int* out) { products(TF32(), steps, out); }
