package cuda_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mage/gpu/cuda"
	"mage/unavailable"
)

// openNVRTC skips a test on a machine without NVRTC.
func openNVRTC(t *testing.T) *cuda.NVRTC {
	t.Helper()
	n, err := cuda.OpenNVRTC("")
	if e, ok := unavailable.As(err); ok {
		t.Skip(e)
	}
	check(t, err)
	return n
}

const twoKernels = `
extern "C" __global__ void light(float *y, float a) { y[threadIdx.x] = a; }

// 64 values per thread that are reused in an order the compiler cannot shorten.
extern "C" __global__ void heavy(float *a, int n) {
    __shared__ float s[100];
    float v[64];
    for (int i = 0; i < 64; i++) v[i] = a[i * n];
    s[threadIdx.x] = v[3];
    __syncthreads();
    for (int r = 0; r < n; r++)
        for (int i = 0; i < 64; i++) v[i] = v[i] * v[(i * 7 + 1) % 64] + s[i];
    for (int i = 0; i < 64; i++) a[i] = v[i];
}
`

func TestCompileToCubin(t *testing.T) {
	n := openNVRTC(t)
	c := must(n.Compile("two.cu", twoKernels,
		[]string{"--gpu-architecture=sm_90", "--ptxas-options=-v", "--maxrregcount=32"}))(t)
	if !bytes.HasPrefix(c.CUBIN, []byte("\x7fELF")) {
		t.Errorf("%d bytes of cubin do not begin as ELF", len(c.CUBIN))
	}
	info := map[string]cuda.PTXASInfo{}
	for _, i := range cuda.ParsePTXASInfo(c.Log) {
		info[i.Function] = i
	}
	light, heavy := info["light"], info["heavy"]
	if len(info) != 2 || light.Arch != "sm_90" || light.Registers == 0 || light.SpillLoads != 0 || light.StackBytes != 0 {
		t.Errorf("light: %+v in\n%s", light, c.Log)
	}
	if heavy.Registers != 32 || heavy.SpillLoads == 0 || heavy.SpillStores == 0 || heavy.SharedBytes != 400 || heavy.Barriers != 1 {
		t.Errorf("heavy, 64 live values in 32 registers: %+v in\n%s", heavy, c.Log)
	}
}

func TestCompileToPTX(t *testing.T) {
	n := openNVRTC(t)
	c := must(n.Compile("two.cu", twoKernels, []string{"--gpu-architecture=compute_75", "-DUNUSED=1"}))(t)
	if len(c.CUBIN) != 0 {
		t.Errorf("%d bytes of cubin for a virtual architecture", len(c.CUBIN))
	}
	for _, want := range []string{".target sm_75", ".entry light(", ".entry heavy("} {
		if !bytes.Contains(c.PTX, []byte(want)) {
			t.Errorf("the PTX does not hold %q", want)
		}
	}
	if bytes.IndexByte(c.PTX, 0) >= 0 {
		t.Error("the PTX holds a NUL")
	}
}

func TestCompileErrors(t *testing.T) {
	n := openNVRTC(t)
	_, err := n.Compile("bad.cu", `extern "C" __global__ void bad() { missing = 1; }`, nil)
	var e *cuda.CompileError
	if !errors.As(err, &e) || e.Result != "NVRTC_ERROR_COMPILATION" || e.Name != "bad.cu" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(e.Log, `bad.cu(1): error: identifier "missing" is undefined`) {
		t.Errorf("log %q", e.Log)
	}
	_, err = n.Compile("ok.cu", twoKernels, []string{"--no-such-option"})
	if !errors.As(err, &e) || e.Result != "NVRTC_ERROR_INVALID_OPTION" {
		t.Errorf("an unknown option: %v", err)
	}
}

func TestNVRTCVersion(t *testing.T) {
	n := openNVRTC(t)
	if v := n.Version(); !strings.Contains(v, ".") || n.Path() == "" {
		t.Errorf("version %q of %q", v, n.Path())
	}
	archs := must(n.SupportedArchs())(t)
	if len(archs) == 0 || archs[0] < 50 || archs[len(archs)-1] > 200 {
		t.Errorf("architectures %v", archs)
	}
}

func TestNVRTCUnavailable(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "libnvrtc.so"), t.TempDir()} {
		_, err := cuda.OpenNVRTC(path)
		if e, ok := unavailable.As(err); !ok || e.What != "NVRTC" || !strings.Contains(e.Remedy, "MAGE_NVRTC") {
			t.Errorf("%v", err)
		}
	}
}

// TestDevicePTXIsUpToDate compiles the kernels of gpu_test.go again.
func TestDevicePTXIsUpToDate(t *testing.T) {
	n := openNVRTC(t)
	source := must(os.ReadFile("testdata/device.cu"))(t)
	c := must(n.Compile("device.cu", string(source), []string{"--gpu-architecture=compute_75"}))(t)
	// The header names the compiler's build and the version that was lowered.
	header := regexp.MustCompile(`(?m)^(//.*|\.version.*)$`)
	body := func(ptx []byte) string { return strings.TrimSpace(header.ReplaceAllString(string(ptx), "")) }
	if v := n.Version(); v != "13.0" {
		t.Skipf("device.ptx is of NVRTC 13.0, this is %s", v)
	}
	if body(c.PTX) != body(devicePTX) {
		t.Error("testdata/device.ptx is not testdata/device.cu compiled")
	}
}
