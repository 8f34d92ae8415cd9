package cuda

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"mage/unavailable"
)

func TestParamsOfPTX(t *testing.T) {
	text := "// .entry never(.param .u32 a)\n.visible .entry one(\n\t.param .u64 .ptr .global .align 16 one_0, // (in)\n\t.param .align 8 .b8 one_1[16]\n)\n.maxntid 128\n{ ld.param.u64 %rd1, [one_0]; }\n" +
		"/* .entry old() */ .entry none()\n{\n}\n.weak .entry bare\n{\n}\n.func (.param .b32 r) f(.param .b32 a) { }\n"
	want := map[string]int{"one": 2, "none": 0, "bare": 0}
	if got := paramCounts([]byte(text)); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestParamsOfBuiltIns counts the parameters that the sources of the built-in
// kernels declare in their PTX and in cubins for every architecture that NVRTC knows.
func TestParamsOfBuiltIns(t *testing.T) {
	sources, err := filepath.Glob("../../kernels/cuda/first/*/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatal(err, len(sources))
	}
	n, err := OpenNVRTC("")
	if _, lacks := unavailable.As(err); err != nil && !lacks {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`__global__[^(]*?(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(([^)]*)\)`)
	for _, path := range sources {
		source := must(os.ReadFile(path))(t)
		m := declaration.FindSubmatch(source)
		if m == nil {
			t.Fatalf("no kernel in %s", path)
		}
		want := map[string]int{string(m[1]): len(regexp.MustCompile(`,`).FindAll(m[2], -1)) + 1}
		ptx := must(os.ReadFile(path[:len(path)-len("cu")] + "ptx"))(t)
		if got := paramCounts(ptx); !maps.Equal(got, want) {
			t.Errorf("%s: the PTX takes %v, the source %v", path, got, want)
		}
		if n == nil {
			continue
		}
		for _, arch := range must(n.SupportedArchs())(t) {
			c := must(n.Compile("k.cu", string(source), []string{fmt.Sprintf("--gpu-architecture=sm_%d", arch), "--std=c++17"}))(t)
			if got := paramCounts(c.CUBIN); !maps.Equal(got, want) {
				t.Errorf("%s for sm_%d: the cubin takes %v, the source %v", path, arch, got, want)
			}
		}
	}
	if n == nil {
		t.Skip("cubins need NVRTC")
	}
}

func TestParamsOfDamagedImages(t *testing.T) {
	for _, image := range []string{"\x7fELF", "\x7fELF and no more than a beginning", "\x50\xed\x55\xba fatbin"} {
		if got := paramCounts([]byte(image)); len(got) != 0 {
			t.Errorf("%q has %v", image, got)
		}
	}
	for _, data := range []string{"\x04", "\x04\x17\x0c\x00short"} {
		if n, ok := describedParams([]byte(data)); ok {
			t.Errorf("%q describes %d parameters", data, n)
		}
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
