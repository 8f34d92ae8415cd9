package tool

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mage/unavailable"
)

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025 NVIDIA Corporation\nVersion 2025.3.1.0 (build 36398880) (public-release)\n": "2025.3.1.0",
		"NVIDIA (R) Compute Sanitizer\nCopyright (c) 2020-2025 NVIDIA Corporation\nVersion 2025.3.1.0 (build 36400806) (public-release)\n":                    "2025.3.1.0",
		"NVIDIA Nsight Systems version 2025.5.1.121-255136380782v0\n":                                                                                         "2025.5.1.121",
		"no number": "",
	} {
		if got := version(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("CUDA_HOME", "")
	for v, script := range map[string]string{"2024.1": "echo 2024.1.0", "2025.2": "echo Version 2025.2.0"} {
		if err := os.MkdirAll(filepath.Join(dir, v), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, v, "mage-test-tool"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Find(context.Background(), "mage-test-tool", "install it", filepath.Join(dir, "*", "mage-test-tool"))
	if err != nil || got.Version != "2025.2.0" {
		t.Errorf("%+v, %v", got, err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{broken, filepath.Join(dir, "nowhere", "*")} {
		_, err := Find(context.Background(), "mage-test-tool", "install it", pattern)
		if u, ok := unavailable.As(err); !ok || u.Remedy != "install it" {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
