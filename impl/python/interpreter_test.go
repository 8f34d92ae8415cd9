package python

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"mage/unavailable"
)

func TestInterpretersThatDoNotWork(t *testing.T) {
	if _, err := Start(Options{Interpreter: "/nonexistent/python3"}); err == nil {
		t.Error("started a Python that is not there")
	} else if u, ok := unavailable.As(err); !ok || !strings.Contains(u.Error(), "--python") {
		t.Errorf("error %v", err)
	}
	script := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho cannot load libpython >&2\nexit 127\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := start(t, Options{Interpreter: script})
	err := w.Offers("torch/eager")
	u, ok := unavailable.As(err)
	if !ok || !strings.Contains(u.Reason, "exit status 127") || !strings.Contains(u.Reason, "cannot load libpython") || u.Remedy == "" {
		t.Errorf("error %v", err)
	}
}

func TestChoiceOfTheInterpreter(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"python3", "mine", "flag", filepath.Join("venv", "bin", "python3")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("MAGE_PYTHON", "")
	expect := func(flag, name, from string) {
		t.Helper()
		if c, err := Choose(flag); err != nil || c != (Choice{filepath.Join(dir, name), from}) {
			t.Errorf("%+v, %v; want %s from %s", c, err, name, from)
		}
	}
	expect("", "python3", "PATH")
	t.Setenv("VIRTUAL_ENV", filepath.Join(dir, "venv"))
	expect("", filepath.Join("venv", "bin", "python3"), "VIRTUAL_ENV")
	t.Setenv("MAGE_PYTHON", filepath.Join(dir, "mine"))
	expect("", "mine", "MAGE_PYTHON")
	expect(filepath.Join(dir, "flag"), "flag", "--python")
	if c, err := Choose(filepath.Join(dir, "absent")); err == nil {
		t.Errorf("fell back to %+v", c)
	}
}

// A Python without torch, or with a broken one, is unavailable for every
// implementation, with a remedy.
func TestWithoutTorch(t *testing.T) {
	for name, module := range map[string]string{
		"none":   "raise ImportError(\"No module named 'torch'\")",
		"broken": "raise OSError('libcudart.so.13: cannot open shared object file')",
		"exits":  "raise SystemExit(1)",
	} {
		w := start(t, Options{Interpreter: plainPython(t), extra: fstest.MapFS{
			"torch.py": {Data: []byte(module)}, "triton.py": {Data: []byte(module)}}})
		x := smallCase(t, "gelu")
		for _, i := range w.Implementations(nil) {
			_, err := i.Open(x.contract, x.dims, x.in)
			u, ok := unavailable.As(err)
			if !ok || u.Reason == "" || !strings.Contains(u.Remedy, "--python") {
				t.Errorf("%s, %s: %v", name, i.Name(), err)
			}
		}
		v, err := w.Versions()
		if err != nil || v["python"] == "" || !strings.HasPrefix(v["torch"], "unavailable: ") {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if w.generation != 1 {
			t.Errorf("%s: %d processes", name, w.generation)
		}
	}
}
