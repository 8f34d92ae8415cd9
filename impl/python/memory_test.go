package python

import (
	"os/exec"
	"strings"
	"testing"
)

// Results that torch allocates are judged only in memory that was poisoned,
// between guard zones. Where they will lie follows from the allocator's rules: the
// search for such memory is tried on a model of them, in heaps full of holes.
func TestResultsLandInPoisonedMemory(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(plainPython(t), "testdata/allocator.py", "worker", "300").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), " of 90000 results were not in poisoned memory") {
		t.Errorf("the model said %q", out)
	}
	t.Logf("%s", out)
}
