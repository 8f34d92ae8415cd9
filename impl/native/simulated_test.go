package native

import (
	"testing"
	"testing/fstest"

	"mage/gate"
	"mage/gpu/cuda"
	"mage/gpu/simt"
	"mage/impl"
	"mage/kernels"
	"mage/unavailable"
)

// asyncGelu needs what compute capability 7.5 does not have: copies to shared
// memory that pass the registers by, and bfloat16 arithmetic (¼·2, here).
const asyncGelu = `#if __CUDA_ARCH__ < 900
#error "it is compiled for an older GPU than the simulator is"
#endif
extern "C" __global__ void gelu_async(const float* a, const float* b, float* out, unsigned n, unsigned D) {
    __shared__ float x[256];
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::
            "r"((unsigned)__cvta_generic_to_shared(&x[threadIdx.x])), "l"(a + i) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (i < n) {
        const float z = x[threadIdx.x] + b[i % D];
        unsigned short quarter = 0x3e80, two = 0x4000, zero = 0x8000, product;
        asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(product) : "h"(quarter), "h"(two), "h"(zero));
        const float half = __uint_as_float((unsigned)product << 16);
        out[i] = half * z * (1.0f + tanhf(0.7978845608028654f * (z + 0.044715f * z * z * z)));
    }
}
`

// TestCompilesForTheSimulator takes a kernel of compute capability 9.0 from its
// source through the gate.
func TestCompilesForTheSimulator(t *testing.T) {
	compiler, err := cuda.OpenNVRTC(cuda.DefaultOptions().NVRTCPath)
	if u, lacking := unavailable.As(err); lacking {
		t.Skip(u)
	}
	if err != nil {
		t.Fatal(err)
	}
	ks, err := kernels.Load(fstest.MapFS{
		"kernel.toml": {Data: []byte(`
implementation = "cuda/async"
contract = "gelu"
precision = ["fp32"]
source = "gelu.cu"
hypothesis = "It tests the architecture that sources are compiled for."

[[launch]]
entry = "gelu_async"
params = [
  { buffer = "a" }, { buffer = "b" }, { buffer = "out" },
  { name = "n", type = "u32", value = "R * D" }, { name = "D", type = "u32", value = "D" },
]
grid = ["ceildiv(R * D, 256)"]
block = ["256"]
`)},
		"gelu.cu": {Data: []byte(asyncGelu)},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	test := small("gelu")
	in := test.inputs(t, 1)
	op := openCase(t, open(t, Options{Device: d, Stream: s, Compiler: compiler}, ks), test, in).(impl.Counting)
	defer op.Close()
	spec := gate.Spec{Contract: test.contract, Dims: test.dims, Inputs: in, Stage: gate.Before,
		Reference: test.contract.Reference(test.dims, in)}
	if r, err := gate.Check(op, spec); err != nil || !r.Passed {
		t.Fatal(err, r.Failure)
	}
	if c := op.Counters(); c.AsyncCopies.Requests != (3*257+31)/32 {
		t.Errorf("%d copies", c.AsyncCopies.Requests)
	}
	if id := op.Identity(); id.BinaryKind != "ptx" {
		t.Errorf("identity %+v", id)
	}
}
