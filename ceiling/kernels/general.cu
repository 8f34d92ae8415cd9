// Kernels that ask one thing of the device, as fast as they can, and whose result
// follows from their arguments in closed form.
//
// Every buffer of words is affine: word i is i * m + a, modulo 2^32. Buffers are
// counted in vectors of four words. A block takes tiles of blockDim.x * U vectors,
// grid-stride, U of them in flight per thread; there are whole tiles only.

#define KERNEL extern "C" __global__ void

typedef unsigned int word;

__device__ uint4 affine(word vector, word m, word a) {
    const word first = 4 * vector * m + a;
    return make_uint4(first, first + m, first + 2 * m, first + 3 * m);
}

__device__ word sum(uint4 v) { return v.x + v.y + v.z + v.w; }

// Adds over the block; the first thread writes it to out[blockIdx.x].
__device__ void add_up(word v, word* out) {
    __shared__ word part[32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        word total = 0;
        for (word i = 0; i < blockDim.x / 32; ++i) total += part[i];
        out[blockIdx.x] = total;
    }
}

KERNEL empty() {}

// Counts the words of a buffer that are not as they should be, and those seen.
KERNEL check(const uint4* in, word vectors, word m, word a, word* wrong, word* seen) {
    word bad = 0, n = 0;
    for (word i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uint4 v = in[i], w = affine(i, m, a);
        bad += (v.x != w.x) + (v.y != w.y) + (v.z != w.z) + (v.w != w.w);
        n += 4;
    }
    atomicAdd(seen, n);
    if (bad > 0) atomicAdd(wrong, bad);
}

#define TILES(U)                                                       \
    for (word first = blockIdx.x * blockDim.x * U + threadIdx.x;       \
         first < vectors; first += gridDim.x * blockDim.x * U)

template <int U>
__device__ void read(const uint4* in, word vectors, word* out) {
    word total = 0;
    TILES(U) {
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; ++u) v[u] = in[first + u * blockDim.x];
#pragma unroll
        for (int u = 0; u < U; ++u) total += sum(v[u]);
    }
    add_up(total, out);
}

template <int U>
__device__ void write(uint4* out, word vectors, word m, word a) {
    TILES(U) {
#pragma unroll
        for (int u = 0; u < U; ++u) out[first + u * blockDim.x] = affine(first + u * blockDim.x, m, a);
    }
}

template <int U>
__device__ void copy(const uint4* in, uint4* out, word vectors) {
    TILES(U) {
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; ++u) v[u] = in[first + u * blockDim.x];
#pragma unroll
        for (int u = 0; u < U; ++u) out[first + u * blockDim.x] = v[u];
    }
}

// out = b + s c, in words, so that it is exact.
template <int U>
__device__ void triad(const uint4* b, const uint4* c, word s, uint4* out, word vectors) {
    TILES(U) {
        uint4 x[U], y[U];
#pragma unroll
        for (int u = 0; u < U; ++u) {
            x[u] = b[first + u * blockDim.x];
            y[u] = c[first + u * blockDim.x];
        }
#pragma unroll
        for (int u = 0; u < U; ++u)
            out[first + u * blockDim.x] =
                make_uint4(x[u].x + s * y[u].x, x[u].y + s * y[u].y, x[u].z + s * y[u].z, x[u].w + s * y[u].w);
    }
}

// Loads and stores that pass by the L1, and that no compiler leaves out.
__device__ uint4 load_l2(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
    return v;
}

__device__ void store_l2(uint4* p, uint4 v) {
    asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Every pass reads one of the block's own tiles, in turn: tile block, block + gridDim.x
// and so on. No other block reads them, and no pass begins before the one before has
// its words: requests for the same words that are under way at once may be merged
// before the L2, which is then not what is measured.
template <int U>
__device__ void l2_read(const uint4* in, word tiles, word passes, word* out) {
    word total = 0, turn = 0;
#pragma unroll 1
    for (word pass = 0; pass < passes; ++pass) {
        const uint4* tile = in + (turn * gridDim.x + blockIdx.x) * blockDim.x * U + threadIdx.x;
        turn = turn + 1 < tiles ? turn + 1 : 0;
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; ++u) v[u] = load_l2(tile + u * blockDim.x);
#pragma unroll
        for (int u = 0; u < U; ++u) total += sum(v[u]);
    }
    add_up(total, out);
}

// Every pass writes the words that it reads, plus its number.
template <int U>
__device__ void l2_copy(const uint4* in, uint4* out, word passes) {
    const word first = blockIdx.x * blockDim.x * U + threadIdx.x;
    for (word pass = 0; pass < passes; ++pass) {
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; ++u) v[u] = load_l2(in + first + u * blockDim.x);
#pragma unroll
        for (int u = 0; u < U; ++u)
            store_l2(out + first + u * blockDim.x, make_uint4(v[u].x + pass, v[u].y + pass, v[u].z + pass, v[u].w + pass));
    }
}

#define SHARED_VECTORS 2048

// Every pass reads the block's 32 KiB once, in vectors side by side: no conflicts. The
// loads are volatile for the assembler, which makes one of two passes otherwise.
template <int U>
__device__ void shared_read(word m, word a, word passes, word* out) {
    __shared__ uint4 tile[SHARED_VECTORS];
    for (word i = threadIdx.x; i < SHARED_VECTORS; i += blockDim.x) tile[i] = affine(i, m, a);
    __syncthreads();
    const word at = (word)__cvta_generic_to_shared(tile + threadIdx.x);
    word x = 0, y = 0, z = 0, w = 0;
#pragma unroll 2
    for (word pass = 0; pass < passes; ++pass) {
#pragma unroll
        for (int u = 0; u < U; ++u) {
            uint4 v;
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "r"(at + u * (SHARED_VECTORS / U) * 16));
            x += v.x;
            y += v.y;
            z += v.z;
            w += v.w;
        }
    }
    add_up(x + y + z + w, out);
}

__device__ float fused(float a, float x, float y) { return fmaf(a, x, y); }
__device__ double fused(double a, double x, double y) { return fma(a, x, y); }
__device__ unsigned long long bits(float v) { return __float_as_uint(v); }
__device__ unsigned long long bits(double v) { return __double_as_longlong(v); }

// C chains v = v x + y that do not wait for each other, from 1 + (lane C + c) / 512.
// A thread writes the exclusive or of their bits.
template <int C, typename T>
__device__ void chains(T x, T y, word steps, unsigned long long* out) {
    T v[C];
#pragma unroll
    for (int c = 0; c < C; ++c) v[c] = T(1) + T((threadIdx.x % 32) * C + c) / T(512);
#pragma unroll 16
    for (word step = 0; step < steps; ++step)
#pragma unroll
        for (int c = 0; c < C; ++c) v[c] = fused(v[c], x, y);
    unsigned long long all = 0;
#pragma unroll
    for (int c = 0; c < C; ++c) all ^= bits(v[c]) << (c % 2 * (sizeof(T) == 4 ? 32 : 0));
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

#define ENTRIES(U)                                                                                                \
    KERNEL read_##U(const uint4* in, word vectors, word* out) { read<U>(in, vectors, out); }                      \
    KERNEL write_##U(uint4* out, word vectors, word m, word a) { write<U>(out, vectors, m, a); }                  \
    KERNEL copy_##U(const uint4* in, uint4* out, word vectors) { copy<U>(in, out, vectors); }                     \
    KERNEL triad_##U(const uint4* b, const uint4* c, word s, uint4* out, word vectors) { triad<U>(b, c, s, out, vectors); } \
    KERNEL l2_read_##U(const uint4* in, word tiles, word passes, word* out) { l2_read<U>(in, tiles, passes, out); } \
    KERNEL l2_copy_##U(const uint4* in, uint4* out, word passes) { l2_copy<U>(in, out, passes); }                 \
    KERNEL shared_read_##U(word m, word a, word passes, word* out) { shared_read<U>(m, a, passes, out); }         \
    KERNEL fma32_##U(float x, float y, word steps, unsigned long long* out) { chains<U>(x, y, steps, out); }      \
    KERNEL fma64_##U(double x, double y, word steps, unsigned long long* out) { chains<U>(x, y, steps, out); }

ENTRIES(4)
ENTRIES(8)
