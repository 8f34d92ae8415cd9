package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mage": main})
}

// TestScripts runs mage as a user does; see testdata/script.
func TestScripts(t *testing.T) {
	faulty, err := filepath.Abs("testdata/faulty")
	if err != nil {
		t.Fatal(err)
	}
	published, err := filepath.Abs("../../ancestor/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// A GPU would change what the scripts see, and a compiler what is counted.
			e.Setenv("MAGE_LIBCUDA", "/nonexistent/libcuda.so")
			e.Setenv("MAGE_NVRTC", "/nonexistent/libnvrtc.so")
			e.Setenv("FAULTY", faulty)
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cache")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("ANCESTOR", published)
			return os.MkdirAll(e.WorkDir+"/cache", 0o755)
		},
	})
}
