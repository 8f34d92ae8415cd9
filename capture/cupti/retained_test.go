package cupti

import (
	"path/filepath"
	"testing"
)

// TestRetained reads traces that were made on a GPU: each must be whole, and make
// sense.
func TestRetained(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.trace")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("no trace of a GPU is retained")
	}
	for _, path := range paths {
		tr, err := readFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := tr.complete(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		r := result([]*trace{tr})
		if len(r.Kernels) == 0 || r.Device == "" || len(r.Calls) == 0 {
			t.Errorf("%s: %d kernels on %q, %d calls", path, len(r.Kernels), r.Device, len(r.Calls))
		}
		for _, k := range r.Kernels {
			if k.DurationUS == nil || *k.DurationUS <= 0 || k.Block[0] == 0 || k.Grid[0] == 0 || k.Name == "" {
				t.Errorf("%s: %+v", path, k)
			}
		}
	}
}
