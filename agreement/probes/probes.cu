// Kernels that perform one access of interest, where a table says: lane l of the
// only warp accesses element table[l], and does not if that is NONE. What else they
// access is the same for every table, one element per lane side by side.
//
// data is as long as shared memory here; out takes a word per lane.

static constexpr unsigned NONE = 0xffffffffu;
static constexpr unsigned BYTES = 16384;

__device__ unsigned fold(unsigned char v) { return v; }
__device__ unsigned fold(unsigned short v) { return v; }
__device__ unsigned fold(unsigned v) { return v; }
__device__ unsigned fold(uint2 v) { return v.x + 3 * v.y; }
__device__ unsigned fold(uint4 v) { return v.x + 3 * v.y + 5 * v.z + 7 * v.w; }

__device__ void make(unsigned char& v, unsigned x) { v = x; }
__device__ void make(unsigned short& v, unsigned x) { v = x; }
__device__ void make(unsigned& v, unsigned x) { v = x; }
__device__ void make(uint2& v, unsigned x) { v = make_uint2(x, x + 1); }
__device__ void make(uint4& v, unsigned x) { v = make_uint4(x, x + 1, x + 2, x + 3); }

#define KERNEL extern "C" __global__ void
#define ARGUMENTS (const unsigned* table, unsigned char* data, unsigned* out)

// Data reaches shared memory as words side by side.
#define FILL_SHARED                                                   \
    __shared__ __align__(16) unsigned char shared[BYTES];             \
    const unsigned lane = threadIdx.x, index = table[lane];           \
    for (unsigned i = lane; i < BYTES / 4; i += 32)                   \
        ((unsigned*)shared)[i] = ((const unsigned*)data)[i];          \
    __syncthreads();

#define PROBES(N, T)                                                  \
    KERNEL load_global_##N ARGUMENTS {                                \
        const unsigned lane = threadIdx.x, index = table[lane];       \
        unsigned sum = lane;                                          \
        if (index != NONE) sum += fold(((const T*)data)[index]);      \
        out[lane] = sum;                                              \
    }                                                                 \
    KERNEL store_global_##N ARGUMENTS {                               \
        const unsigned lane = threadIdx.x, index = table[lane];       \
        T v;                                                          \
        make(v, index);                                               \
        if (index != NONE) ((T*)data)[index] = v;                     \
        out[lane] = index;                                            \
    }                                                                 \
    KERNEL load_shared_##N ARGUMENTS {                                \
        FILL_SHARED                                                   \
        unsigned sum = lane;                                          \
        if (index != NONE) sum += fold(((const T*)shared)[index]);    \
        out[lane] = sum;                                              \
    }                                                                 \
    KERNEL store_shared_##N ARGUMENTS {                               \
        FILL_SHARED                                                   \
        T v;                                                          \
        make(v, index);                                               \
        if (index != NONE) ((T*)shared)[index] = v;                   \
        __syncthreads();                                              \
        out[lane] = ((const unsigned*)shared)[lane];                  \
    }

PROBES(1, unsigned char)
PROBES(2, unsigned short)
PROBES(4, unsigned)
PROBES(8, uint2)
PROBES(16, uint4)

// Atomics whose result nobody uses become reductions.
KERNEL reduce_global_4 ARGUMENTS {
    const unsigned lane = threadIdx.x, index = table[lane];
    if (index != NONE) atomicAdd((unsigned*)data + index, lane);
    out[lane] = index;
}
KERNEL atomic_global_4 ARGUMENTS {
    const unsigned lane = threadIdx.x, index = table[lane];
    unsigned old = lane;
    if (index != NONE) old = atomicMax((unsigned*)data + index, 0);
    out[lane] = old;
}
KERNEL atomic_shared_4 ARGUMENTS {
    FILL_SHARED
    unsigned old = lane;
    if (index != NONE) old = atomicMax((unsigned*)shared + index, 0);
    out[lane] = old;
}

// Asynchronous copies: the table says from where, lanes write side by side.
#define COPY(N)                                                                              \
    KERNEL copy_async_##N ARGUMENTS {                                                        \
        __shared__ __align__(16) unsigned char shared[32 * N];                               \
        const unsigned lane = threadIdx.x, index = table[lane];                              \
        ((unsigned*)shared)[lane] = lane;                                                    \
        __syncthreads();                                                                     \
        if (index != NONE)                                                                   \
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(                  \
                             (unsigned)__cvta_generic_to_shared(shared + N * lane)),         \
                         "l"(data + N * index), "n"(N)                                       \
                         : "memory");                                                        \
        asm volatile("cp.async.wait_all;" ::: "memory");                                     \
        __syncthreads();                                                                     \
        out[lane] = ((const unsigned*)shared)[lane];                                         \
    }
COPY(4)
COPY(8)
COPY(16)
