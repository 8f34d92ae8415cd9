package tritonhook

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mage/capture"
)

// TestFollow: launches are told of while the script runs, which ends only when they
// have been seen.
func TestFollow(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	script, seen := filepath.Join(dir, "script.py"), filepath.Join(dir, "seen")
	text := prelude + `import os, sys, time
for _ in range(400):
    k.launch()
    if os.path.exists(sys.argv[1]): break
    time.sleep(0.05)
else: sys.exit("nobody saw it")
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := capture.Request{Script: script, Argv: []string{l.python, script, seen}}
	var last capture.Seen
	_, result, err := capture.Run(context.Background(), Backend{}, r, capture.Options{Root: t.TempDir(), Force: true, Follow: true, Watch: func(st capture.Status) {
		if last = st.Seen; last.Launches > 0 && st.Phase == "capturing" {
			_ = os.WriteFile(seen, nil, 0o600)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if k := last.Busiest[0]; k.Name != "k" || k.Timed != k.Launches || math.Abs(k.TotalUS-1.5*float64(k.Launches)) > 1e-9 || last.Launches != len(result.Kernels) {
		t.Errorf("%+v of %d launches", last, len(result.Kernels))
	}
}
