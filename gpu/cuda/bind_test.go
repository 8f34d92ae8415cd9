package cuda_test

import (
	"slices"
	"strings"
	"testing"

	"mage/gpu"
	"mage/gpu/cuda/cudatest"
	"mage/unavailable"
)

func TestBindChecks(t *testing.T) {
	d, _ := openStub(t)
	f := must(must(d.Load([]byte(cudatest.KernelsPTX)))(t).Function("stub_fill"))(t)
	args := []gpu.Arg{gpu.Pointer(0), gpu.Float32(0), gpu.Uint32(0)}
	ok := gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}
	for want, bind := range map[string]func() (gpu.Launch, error){
		"must be positive": func() (gpu.Launch, error) { return f.Bind(gpu.Config{Block: ok.Block}, args...) },
		"a block of 2048 threads": func() (gpu.Launch, error) {
			return f.Bind(gpu.Config{Grid: ok.Grid, Block: [3]uint32{64, 32, 1}}, args...)
		},
		"takes more than the 2":    func() (gpu.Launch, error) { return f.Bind(ok, args[:2]...) },
		"takes 3 arguments, not 4": func() (gpu.Launch, error) { return f.Bind(ok, append(slices.Clone(args), args[0])...) },
		"argument 2 of stub_fill has": func() (gpu.Launch, error) {
			return f.Bind(ok, args[0], args[1], gpu.Int64(0))
		},
		"4 or 8 are possible": func() (gpu.Launch, error) { return f.Bind(ok, args[0], args[1], gpu.Arg{Size: 2}) },
	} {
		if _, err := bind(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("bind: %v, want %q", err, want)
		}
	}
}

// TestBindAsksForNoMore binds without a call of the driver that fails:
// compute-sanitizer would report it as an error of the program.
func TestBindAsksForNoMore(t *testing.T) {
	for name, defines := range map[string][]string{"from the image": nil, "from the driver": {"PARAM_COUNT"}} {
		d, control := openStub(t, defines...)
		kernel(t, d, "stub_fill", gpu.Pointer(0), gpu.Float32(0), gpu.Uint32(0))
		kernel(t, d, "stub_empty")
		if n := control.Calls("cuFuncGetParamInfo"); n != 3 {
			t.Errorf("%s: %d questions about 3 parameters", name, n)
		}
		if n := control.Calls("cuFuncGetParamCount"); n != int64(2*len(defines)) {
			t.Errorf("%s: %d questions for their number", name, n)
		}
	}
}

func TestDynamicSharedMemory(t *testing.T) {
	d, control := openStub(t)
	s := must(d.NewStream())(t)
	f := must(must(d.Load([]byte(cudatest.KernelsPTX)))(t).Function("stub_empty"))(t)
	bind := func(n uint32) (gpu.Launch, error) {
		return f.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, DynamicShared: n})
	}
	small := must(bind(47 << 10))(t) // with 1 KiB static this is the limit
	if control.Calls("cuFuncSetAttribute") != 0 {
		t.Error("opted in below the limit")
	}
	large := must(bind(98 << 10))(t)
	must(bind(64 << 10))(t) // must not lower what large needs
	check(t, large.Submit(s))
	check(t, small.Submit(s))
	_, err := bind(99 << 10)
	if _, ok := unavailable.As(err); !ok {
		t.Errorf("more shared memory than the device has: %v", err)
	}
}

func TestForeignObjects(t *testing.T) {
	d, _ := openStub(t)
	other, _ := openStub(t)
	s := must(other.NewStream())(t)
	l := kernel(t, d, "stub_empty")
	if l.Submit(s) == nil || l.Submit(nil) == nil {
		t.Error("submitted to a foreign stream")
	}
	if s.Record(must(d.NewEvent())(t)) == nil {
		t.Error("recorded a foreign event")
	}
}
