package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/impl"
)

// TestProfile: the program is asked for a range, and its results are not taken.
func TestProfile(t *testing.T) {
	b := openFake(t, "honest", Options{})
	if err := b.op.Profile(7); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append([]string{}, timingNames...), runDirs...) {
		if _, err := os.Stat(filepath.Join(b.op.dir, name)); err == nil {
			t.Errorf("%s of a profiled run was left", name)
		}
	}
	crashing := openFake(t, "crash", Options{})
	var p impl.Profiled = crashing.op
	if err := p.Profile(1); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("error = %v", err)
	}
}
