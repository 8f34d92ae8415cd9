// Bias and GELU, four elements per thread and access: x is R×D, bias is D, both
// read and written as float4 (128 bits). BLOCK comes from kernel.toml.

__device__ float tanh_approx(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ float gelu(float z) {
    const float sqrt_2_over_pi = 0.7978845608028654f;
    return 0.5f * z * (1.0f + tanh_approx(sqrt_2_over_pi * (z + 0.044715f * z * z * z)));
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    vector_gelu(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ out,
                unsigned vectors, unsigned vectors_per_row) {
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= vectors) {
        return;
    }
    const float4 x = a[i], bias = b[i % vectors_per_row];
    out[i] = make_float4(gelu(x.x + bias.x), gelu(x.y + bias.y), gelu(x.z + bias.z), gelu(x.w + bias.w));
}
