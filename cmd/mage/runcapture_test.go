package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mage/capture/capturetest"
	"mage/gpu/cuda/cudatest"
	"mage/kernels/kernelstest"
)

// TestRunCaptureScripts runs experiments on a stand-in for the CUDA driver and
// profiles their arms with stand-ins for the profilers; see testdata/runcapture.
func TestRunCaptureScripts(t *testing.T) {
	driver := cudatest.BuildStub(t)
	reports := t.TempDir()
	// Twenty operations of one kernel each.
	capturetest.WriteExport(t, filepath.Join(reports, "nsys.sqlite"), capturetest.Export{Version: "3.24.14", Script: `
		DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start <> 2000;
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
		SELECT start + 10000 * i, end + 10000 * i, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, demangledName,
		shortName, mangledName, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
		dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId, sharedMemoryLimitConfig
		FROM CUPTI_ACTIVITY_KIND_KERNEL, n`})
	counted, err := os.ReadFile("../../capture/ncu/testdata/raw-full.csv")
	if err == nil {
		err = os.WriteFile(filepath.Join(reports, "ncu.csv"), counted, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"findings.log": "memcheck.log", "clean.log": "clean.log"} {
		text, err := os.ReadFile("../../capture/sanitizer/testdata/" + from)
		if err == nil {
			err = os.WriteFile(filepath.Join(reports, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/runcapture",
		Setup: func(e *testscript.Env) error {
			standInEnvironment(driver, e.Setenv)
			bin := filepath.Join(e.WorkDir, "standins")
			for _, dir := range []string{bin, e.WorkDir + "/cache"} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			capturetest.Install(t, bin)
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cache")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("REPORTS", reports)
			e.Setenv("CUDA_VISIBLE_DEVICES", "")
			e.Setenv("MAGE_STANDIN_REPORT", filepath.Join(reports, "nsys.sqlite"))
			kernelstest.Write(t, e.WorkDir+"/good", "mine/a", kernelstest.Gelu, "")
			kernelstest.Write(t, e.WorkDir+"/good", "mine/b", kernelstest.Gelu, "")
			return nil
		},
	})
}
