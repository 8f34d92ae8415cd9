package simt_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/gpu/simt"
)

var update = flag.Bool("update", false, "compile testdata/features.cu again (MAGE_NVRTC, MAGE_CUDA_INCLUDE)")

// compileFeatures writes the PTX of the feature kernels. MAGE_CUDA_INCLUDE names
// the directory of cuda_fp16.h.
func compileFeatures(t *testing.T) {
	t.Helper()
	source, err := os.ReadFile("testdata/features.cu")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := cuda.OpenNVRTC("")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("features.cu", string(source), []string{"--gpu-architecture=compute_90",
		"--std=c++17", "--include-path=" + os.Getenv("MAGE_CUDA_INCLUDE")})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/features.ptx", bytes.TrimRight(compiled.PTX, "\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCompiledFeatures executes kernels that use one feature of CUDA C++ each, as
// NVRTC compiled them, and compares with the same in Go.
func TestCompiledFeatures(t *testing.T) {
	if *update {
		compileFeatures(t)
	}
	image, err := os.ReadFile("testdata/features.ptx")
	if err != nil {
		t.Fatal(err)
	}
	in := make([]float32, 256)
	for i := range in {
		in[i] = float32(i-100) / 64 // exact in f16
	}
	sum := func(from, n int) (s float64) {
		for _, x := range in[from : from+n] {
			s += float64(x)
		}
		return s
	}
	each := func(f func(i int, x float64) float64) func([]float32) []float64 {
		return func(in []float32) []float64 {
			out := make([]float64, len(in))
			for i, x := range in {
				out[i] = f(i, float64(x))
			}
			return out
		}
	}
	transposed := each(func(i int, _ float64) float64 {
		x, y, s := i%32, i%128/32, 0.0
		for c := y; c < 32; c += 4 {
			s += float64(in[(x*32+c)%256]) * float64(c+1)
		}
		return s
	})
	for name, want := range map[string]func([]float32) []float64{
		"last_block": func([]float32) []float64 {
			out := make([]float64, 256)
			out[0], out[1], out[255] = sum(0, 128), sum(128, 128), sum(0, 256)
			return out
		},
		"warp_sum": each(func(i int, _ float64) float64 { return sum(i/32*32, 32) }),
		"device_function": each(func(i int, x float64) float64 {
			return []float64{x + 1, x * 2, -x, x * x, math.Abs(x) + 3, 7, 0, 0}[i%8]
		}),
		"half2_math":  each(func(_ int, x float64) float64 { return 2 * (x*x + 1) }),
		"bf16_math":   each(func(_ int, x float64) float64 { return x + 1 }),
		"double_math": each(func(_ int, x float64) float64 { return math.Sqrt(x*x+1)/3 + math.Exp(x)*1e-3 }),
		"functions": each(func(_ int, x float64) float64 {
			return math.Exp(x) + math.Log(math.Abs(x)+1) + math.Sin(x) + math.Pow(math.Abs(x), 1.5) + math.Erf(x)
		}),
		"integers": each(func(_ int, x float64) float64 {
			v := int64(x*1000) * 123456789
			return float64(v%1000003) + float64(v/977%101) + float64(ones(uint64(v))) + float64(leading(uint32(v))) + float64(reversed(uint32(v))%17)
		}),
		"local_array": each(func(i int, _ float64) float64 {
			s := 0.0
			for k := range 9 {
				s += float64(in[(i+(i%128+k*k)%9)%256]) * float64(k)
			}
			return s
		}),
		"constants": each(func(i int, x float64) float64 { return x * []float64{1, 10, 100, 1000}[i%4] }),
		"histogram": each(func(i int, _ float64) float64 {
			if i < 8 {
				return 32
			}
			return 0
		}),
		"transpose_conflicts": transposed,
		"transpose_padded":    transposed,
		"wmma": each(func(i int, _ float64) float64 {
			s := 1.0 // of the transposed product
			for k := range 16 {
				s += float64(in[i%16*16+k]) * float64(in[255-(i/16*16+k)])
			}
			return 2 * s
		}),
		"print":      each(func(_ int, x float64) float64 { return x }),
		"async_copy": each(func(i int, _ float64) float64 { return float64(in[255-i]) }),
	} {
		t.Run(name, func(t *testing.T) {
			c := runFeature(t, image, "k_"+name, in, want(in))
			// A column of a square of 32 lies in one bank, of one of 33 in all.
			loads := c.SharedLoads
			switch name {
			case "transpose_conflicts":
				if got := loads.Conflicts(); got != 2*4*8*31 {
					t.Errorf("%d bank conflicts, want %d", got, 2*4*8*31)
				}
			case "transpose_padded":
				if got := loads.Conflicts(); got != 0 {
					t.Errorf("%d bank conflicts, want none", got)
				}
			}
		})
	}
}

func runFeature(t *testing.T, image []byte, kernel string, in []float32, want []float64) simt.Counters {
	t.Helper()
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(kernel)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	var raw []byte
	for _, x := range in {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	var p [3]gpu.Ptr
	for i, n := range []int64{1024, 1024, 4} {
		if p[i], err = d.Alloc(n); err != nil {
			t.Fatal(err)
		}
		if err := d.Fill(p[i], 0, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Upload(p[0], raw); err != nil {
		t.Fatal(err)
	}
	l, err := f.Bind(gpu.Config{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{128, 1, 1}}, gpu.Pointer(p[0]), gpu.Pointer(p[1]), gpu.Pointer(p[2]))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Submit(s); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if err := d.Download(raw, p[1]); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		got := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		tolerance := 1e-5
		if kernel == "k_half2_math" || kernel == "k_bf16_math" {
			tolerance = 0x1p-8 // half an ulp of 8 bits
		}
		if math.Abs(got-w) > tolerance*(1+math.Abs(w)) {
			t.Fatalf("out[%d] = %v, want %v", i, got, w)
		}
	}
	return d.Counters()
}

func ones(v uint64) (n int) {
	for ; v != 0; v &= v - 1 {
		n++
	}
	return n
}

func leading(v uint32) (n int) {
	for n < 32 && v>>(31-n)&1 == 0 {
		n++
	}
	return n
}

func reversed(v uint32) (r uint32) {
	for i := range 32 {
		r |= v >> i & 1 << (31 - i)
	}
	return r
}

func TestPrintf(t *testing.T) {
	image, err := os.ReadFile("testdata/features.ptx")
	if err != nil {
		t.Fatal(err)
	}
	r := newRigOf(t, simt.Options{}, image, "k_print")
	in := make([]uint32, 256)
	for i := range in {
		in[i] = math.Float32bits(float32(i) / 8)
	}
	if err := r.run(2, 128, 0, gpu.Pointer(r.words(in...)), gpu.Pointer(r.alloc(256)), gpu.Pointer(r.words(0))); err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range 4 {
		want += fmt.Sprintf("block %d/%d: %6.2f|1.500e+00|0.25 1099511627776 0x00FF q %% 1\n", i/2, 1+i%2*64, float64(i*64+1)/8)
	}
	if got := string(r.device.Printed()); got != want {
		t.Errorf("printed\n%s, want\n%s", got, want)
	}
	if len(r.device.Printed()) > 0 {
		t.Error("it is there twice")
	}
}
