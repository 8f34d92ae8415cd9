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

// What the environment tells Python does not keep it from serving, nor does a
// directory with an odd name.
func TestOddSurroundings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b\nö'\"")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{
		{"PYTHONSAFEPATH=1", "PYTHONOPTIMIZE=2", "PYTHONDEVMODE=1"}, {"PYTHONINSPECT=1", "PYTHONWARNINGS=error"},
		{"LANG=C", "LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0", "PYTHONIOENCODING=ascii:strict"},
	} {
		w, err := Start(Options{Interpreter: plainPython(t), Device: "cpu", Dir: dir, Env: env, extra: fstest.MapFS{
			"mage_worker/pure_arms.py": {Data: []byte("import sys, tempfile\nprint('temporary below', tempfile.gettempdir().startswith(sys.argv[1]))\ndef offers(*_): pass\n")}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Offers("pure/python"); err != nil {
			t.Errorf("%v: %v", env, err)
		}
		eventually(t, "temporary files go below the worker's directory", func() bool { return strings.Contains(w.printed(), "temporary below True") })
		if err := w.Close(); err != nil {
			t.Errorf("%v: %v", env, err)
		}
	}
}

// Without a place for the worker other arms go on.
func TestNoRoomForTheWorker(t *testing.T) {
	_, err := Start(Options{Interpreter: plainPython(t), Dir: filepath.Join(t.TempDir(), "absent")})
	if u, ok := unavailable.As(err); !ok || !strings.Contains(u.Remedy, "TMPDIR") {
		t.Errorf("error %v", err)
	}
}

func TestLastLine(t *testing.T) {
	for log, want := range map[string]string{
		"":               "",
		"one\n two \n\n": "two",
		"\xff\n":         "?",
		"Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n  File \"a.py\", line 1 in f\n\nExtension modules: torch._C (total: 1)\n": "Fatal Python error: Segmentation fault",
		"said Fatal Python error: no\nthen\n": "then",
	} {
		if got := lastLine(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
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
