package ncu

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mage/capture"
)

func TestFollow(t *testing.T) {
	dir := t.TempDir()
	follow := Backend{}.Follow(dir)
	var names []string
	seen := func(k *capture.Kernel) { names = append(names, k.Name) }
	follow(seen)
	text := `==PROF== Connected to process 7 (/usr/bin/program)
the program says "hello"
==PROF== Profiling "gelu_kernel" - 0 (1/10): 0%....50%....100% - 9 passes
==PROF== Profiling "say "hi"" - 1: 0%....50%....100% - 9 passes
==PROF== Profiling "unfinished" - 2: 0%....5`
	if err := os.WriteFile(filepath.Join(dir, capture.LogFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	follow(seen)
	if want := []string{"gelu_kernel", `say "hi"`}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
