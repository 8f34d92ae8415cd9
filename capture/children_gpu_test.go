//go:build unix

package capture_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"mage/capture"
	"mage/capture/ncu"
	"mage/capture/sanitizer"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/internal/process"
	"mage/unavailable"
)

// stray writes behind the end of what it is given, which harms nobody: memory is
// handed out in larger pieces.
const stray = `.version 7.0
.target sm_75
.address_size 64
.visible .entry stray(.param .u64 p)
{
	.reg .u64 %rd<3>;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	st.global.u32 [%rd2+4], 1;
	ret;
}
`

// TestGPUChildrenAreSeen puts profilers around a Go program that uses the GPU and
// starts another one that does, as mage profile-arm does for arms that are programs
// and Python workers. What the other one does must be seen.
func TestGPUChildrenAreSeen(t *testing.T) {
	const role = "MAGE_TEST_ROLE"
	switch os.Getenv(role) {
	case "parent":
		openGPU(t)
		err := process.Run(t.Context(), process.Job{Argv: []string{os.Args[0], "-test.run=^" + t.Name() + "$"},
			Env: append(os.Environ(), role+"=child"), Stdout: os.Stdout, Stderr: os.Stderr})
		if err != nil {
			t.Error(err)
		}
		return
	case "child":
		runStray(t, openGPU(t))
		return
	}
	openGPU(t)
	t.Setenv(role, "parent")
	for _, b := range []capture.Backend{ncu.Backend{}, sanitizer.Backend{}} {
		t.Run(b.Name(), func(t *testing.T) {
			r := capture.Request{Argv: []string{os.Args[0], "-test.run=^TestGPUChildrenAreSeen$"}, Range: capture.All}
			if b.Name() == "sanitizer" {
				r.Tool = "memcheck"
			} else {
				r.Metrics = []string{capture.Duration}
			}
			c, got, err := capture.Run(context.Background(), b, r, capture.Options{Root: t.TempDir(), Force: true})
			if _, lacks := unavailable.As(err); lacks {
				t.Skip(err)
			}
			switch {
			case c == nil:
				t.Fatal(err)
			case b.Name() == "ncu" && (err != nil || len(got.Kernels) != 1 || got.Kernels[0].Name != "stray"):
				t.Errorf("%v: %+v", err, got.Kernels)
			case b.Name() == "sanitizer" && !slices.ContainsFunc(got.Findings, func(f capture.Finding) bool {
				return f.Kind == "Invalid __global__ write of size 4 bytes" && f.Kernel == "stray"
			}):
				t.Errorf("%v: %+v", err, got.Findings)
			}
		})
	}
}

func openGPU(t *testing.T) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if _, lacks := unavailable.As(err); lacks {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func runStray(t *testing.T, d *cuda.Device) {
	t.Helper()
	memory, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load([]byte(stray))
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("stray")
	if err != nil {
		t.Fatal(err)
	}
	one := [3]uint32{1, 1, 1}
	launch, err := f.Bind(gpu.Config{Grid: one, Block: one}, gpu.Pointer(memory))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := launch.Submit(s); err != nil {
		t.Fatal(err)
	}
	t.Log(s.Synchronize()) // compute-sanitizer ends the kernel
}
