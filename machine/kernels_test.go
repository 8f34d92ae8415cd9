package machine

import (
	"strings"
	"testing"

	"mage/kernels/kernelstest"
)

// A kernel cannot be measured under the name of an implementation that is none:
// its times would be read as those of PyTorch, or of the Go baseline.
func TestKernelsTakeNoNameOfOtherImplementations(t *testing.T) {
	for _, name := range []string{"cpu/naive", "torch/eager", "triton/mine", "exec/mine"} {
		dir := t.TempDir()
		kernelstest.Write(t, dir, name, kernelstest.Gelu, "")
		m, err := Open(t.Context(), Options{KernelDirs: []string{dir}, Simulate: true, Version: "test"})
		if err == nil {
			m.Close()
			t.Errorf("%s is a kernel", name)
		} else if !strings.Contains(err.Error(), "kernel.toml:1: implementation = ") || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v", name, err)
		}
	}
}
