package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mage/gpu/cuda/cudatest"
	"mage/kernels/kernelstest"
)

// TestStandInScripts runs mage on a stand-in for the CUDA driver, with kernels of
// a user's own; see testdata/standin.
func TestStandInScripts(t *testing.T) {
	driver := cudatest.BuildStub(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/standin",
		Setup: func(e *testscript.Env) error {
			standInEnvironment(driver, e.Setenv)
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cache")
			e.Setenv("HOME", e.WorkDir)
			kernelstest.Write(t, e.WorkDir+"/good", "mine/a", kernelstest.Gelu, "")
			kernelstest.Write(t, e.WorkDir+"/good", "mine/b", kernelstest.Gelu, "")
			kernelstest.Write(t, e.WorkDir+"/wrong", "mine/wrong", kernelstest.Copy, "")
			kernelstest.Write(t, e.WorkDir+"/fault", "mine/fault", kernelstest.Fault, "")
			return os.MkdirAll(e.WorkDir+"/cache", 0o755)
		},
	})
}

// standInEnvironment chooses the driver and hides the other NVIDIA libraries.
func standInEnvironment(driver string, set func(name, value string)) {
	set("MAGE_LIBCUDA", driver)
	for _, name := range []string{"MAGE_NVRTC", "MAGE_CUPTI"} {
		set(name, "/nonexistent/lib.so")
	}
}
