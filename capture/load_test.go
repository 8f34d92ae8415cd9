//go:build unix

package capture_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"mage/capture"
)

// load reads what a capture left in its directory, as other programs would.
func load(t *testing.T, dir string) (*capture.Capture, *capture.Result) {
	t.Helper()
	c, r := &capture.Capture{Dir: dir}, &capture.Result{}
	for name, into := range map[string]any{capture.CaptureFile: c, capture.KernelsFile: &r.Kernels,
		capture.CopiesFile: &r.Copies, capture.CallsFile: &r.Calls, capture.MemoryFile: &r.Allocations} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) && name != capture.CaptureFile {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return c, r
}
