package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mage/capture/capturetest"
)

// TestProfileScripts runs mage with stand-ins for the profilers; see
// testdata/profile.
func TestProfileScripts(t *testing.T) {
	reports := t.TempDir()
	capturetest.WriteExport(t, filepath.Join(reports, "nsys.sqlite"), capturetest.Export{Version: "3.24.14"})
	for name, script := range map[string]string{"negative": "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 5 WHERE start = 7000",
		"schema": "UPDATE META_DATA_EXPORT SET value = '9.1.0'"} {
		capturetest.WriteExport(t, filepath.Join(reports, name+".sqlite"), capturetest.Export{Version: "3.24.14", Script: script})
	}
	for name, from := range map[string]string{"ncu.csv": "../../capture/ncu/testdata/raw-full.csv",
		"findings.log": "../../capture/sanitizer/testdata/memcheck.log", "clean.log": "../../capture/sanitizer/testdata/clean.log"} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(reports, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	packages, err := filepath.Abs("../../capture/tritonhook/testdata/packages") // stand-ins for torch and Triton
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/profile",
		Setup: func(e *testscript.Env) error {
			bin := filepath.Join(e.WorkDir, "standins")
			if err := os.MkdirAll(bin, 0o755); err != nil {
				return err
			}
			capturetest.Install(t, bin)
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("REPORTS", reports)
			e.Setenv("TRITON", packages)
			for _, library := range []string{"MAGE_CUPTI", "MAGE_LIBCUDA"} { // the reports are of another machine's GPU
				e.Setenv(library, "/nonexistent/lib.so")
			}
			for _, unset := range []string{"CUDA_VISIBLE_DEVICES", "MAGE_PYTHON", "VIRTUAL_ENV"} {
				e.Setenv(unset, "")
			}
			return nil
		},
	})
}
