package doctor

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
)

func TestDevicesOfADriver(t *testing.T) {
	o := Options{CUDA: cuda.Options{DriverPath: cudatest.BuildStub(t)}}
	f := collect(o.driver, time.Minute)["NVIDIA driver"]
	wellFormed(t, f)
	if !f.Available || !strings.HasPrefix(f.Detail, "supports CUDA ") || f.Path == "" {
		t.Errorf("%+v", f)
	}
	n, err := o.CUDA.Count()
	if err != nil {
		t.Fatal(err)
	}
	found := collect(o.devices, time.Minute)
	if len(found) != n {
		t.Errorf("%d findings for %d devices", len(found), n)
	}
	for _, f := range found {
		wellFormed(t, f)
		if !f.Available || !strings.Contains(f.Detail, "compute capability") {
			t.Errorf("%+v", f)
		}
	}
}

func TestNoDriver(t *testing.T) {
	o := Options{CUDA: cuda.Options{DriverPath: filepath.Join(t.TempDir(), "absent.so")}}
	for item, f := range map[string]Finding{
		"NVIDIA driver": collect(o.driver, time.Minute)["NVIDIA driver"],
		"devices":       collect(o.devices, time.Minute)["devices"],
	} {
		if f.Item != item || f.Available || !strings.Contains(f.Reason, "absent.so") || f.Remedy == "" {
			t.Errorf("%s: %+v", item, f)
		}
	}
}
