package evidence

import (
	"fmt"
	"os"
	"testing"
)

// childDir, set in the environment, makes the test binary a process that writes
// rounds until it is killed.
const childDir = "MAGE_EVIDENCE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := writeUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
