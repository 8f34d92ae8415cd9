package python

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"mage/gate"
	"mage/impl"
	"mage/unavailable"
)

// TestProfileNeedsADriver: where there is none that is the reason, and the arm
// goes on.
func TestProfileNeedsADriver(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("pure/python", nil))
	err := op.(impl.Profiled).Profile(2)
	if _, lacking := unavailable.As(err); err != nil && !lacking {
		t.Errorf("error = %v", err)
	}
	x.pass(t, op, gate.Before)
}

// TestProfiledWorkerEndsByItself: a profiler that takes long to write what it saw is
// not killed at it.
func TestProfiledWorkerEndsByItself(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, "report")
	profiler := "import atexit, time\ndef late():\n    time.sleep(3)\n    open(" + strconv.Quote(report) + ", 'w').close()\natexit.register(late)\n"
	if err := os.WriteFile(filepath.Join(dir, "sitecustomize.py"), []byte(profiler), 0o600); err != nil {
		t.Fatal(err)
	}
	w := plain(t, Options{Env: []string{"PYTHONPATH=" + dir}})
	op := smallCase(t, "gelu").open(t, w.implementation("pure/python", nil))
	if err := op.(impl.Profiled).Profile(1); err != nil {
		if _, lacking := unavailable.As(err); !lacking {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(report); err != nil {
		t.Error(err)
	}
}
