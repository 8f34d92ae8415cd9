package tritonhook

import (
	"os"
	"path/filepath"
	"testing"

	"mage/capture"
)

// TestRealTriton goes through the real Triton up to the launch.
func TestRealTriton(t *testing.T) {
	python := os.Getenv("MAGE_TEST_PYTHON")
	if python == "" {
		t.Skip("MAGE_TEST_PYTHON names no Python with torch and Triton")
	}
	script, err := filepath.Abs("testdata/real.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TRITON_CACHE_DIR", t.TempDir())
	t.Setenv("TRITON_INTERPRET", "")
	r := capture.Request{Argv: []string{python, script}, Script: script}
	c, got, err := capture.Run(t.Context(), Backend{}, r, capture.Options{Root: t.TempDir(), Force: true})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(c.Dir, capture.LogFile))
		t.Fatalf("%v\n%s", err, log)
	}
	if seen(got) != "scale:2.5 scale:2.5" {
		t.Errorf("seen: %s", seen(got))
	}
	for i, want := range []struct{ grid, block capture.Dim }{{capture.Dim{8, 2, 1}, capture.Dim{64, 1, 1}}, {capture.Dim{4, 1, 1}, capture.Dim{128, 1, 1}}} {
		if k := got.Kernels[i]; k.Grid != want.grid || k.Block != want.block || *k.Registers != 40 || k.DynamicShared == nil {
			t.Errorf("launch %d: %+v", i, k)
		}
	}
	if c.Versions["triton"] == "" || c.Versions["torch"] == "" {
		t.Errorf("versions %v", c.Versions)
	}
}
