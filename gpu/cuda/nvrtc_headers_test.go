package cuda_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/gpu/cuda"
)

// TestHeadersAreFound: CUDA's headers are found around the library, or where the
// variable says, and messages do not tell where.
func TestHeadersAreFound(t *testing.T) {
	const source = "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half* a) { *a = __hadd(*a, *a)%s; }"
	compile := func(n *cuda.NVRTC, more string) error {
		_, err := n.Compile("k.cu", strings.Replace(source, "%s", more, 1), []string{"--gpu-architecture=compute_90"})
		return err
	}
	folder := t.TempDir()
	named := filepath.Join(folder, "include")
	if err := os.Mkdir(named, 0o700); err != nil {
		t.Fatal(err)
	}
	header := "struct __half { float x; };\n__device__ __half __hadd(__half a, __half b) { return a; }\n"
	if err := os.WriteFile(filepath.Join(named, "cuda_fp16.h"), []byte(header+"int bad = nothing;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MAGE_CUDA_INCLUDE", named)
	var failed *cuda.CompileError
	if err := compile(openNVRTC(t), ""); !errors.As(err, &failed) || !strings.Contains(err.Error(), "cuda_fp16.h(3): error") || strings.Contains(err.Error(), folder) {
		t.Errorf("a faulty header: %v", err)
	}
	if err := os.WriteFile(filepath.Join(named, "cuda_fp16.h"), []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, compile(openNVRTC(t), ""))

	// A folder like a toolkit's: the library is a link, so that headers are beside it.
	t.Setenv("MAGE_CUDA_INCLUDE", "")
	lib := filepath.Join(folder, "lib")
	if err := os.Mkdir(lib, 0o700); err != nil {
		t.Fatal(err)
	}
	real := openNVRTC(t).Path()
	link := filepath.Join(lib, filepath.Base(real))
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	n, err := cuda.OpenNVRTC(link)
	check(t, err)
	if n.Path() == link {
		check(t, compile(n, ""))
	}
}
