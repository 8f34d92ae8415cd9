package evidence

import (
	"fmt"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of so many bytes, or skips the test.
func smallDisk(t *testing.T, bytes int) string {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skip("cannot mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
