package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mage/evidence"
)

// smallDisk mounts a file system of so many bytes at w/results, or skips the test.
func smallDisk(w *workshop, bytes int) (remount func(flags uintptr, bytes int)) {
	dir := w.path("results")
	if err := os.Mkdir(dir, 0o755); err != nil {
		w.Fatal(err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		w.Skip("cannot mount a small file system: ", err)
	}
	w.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			w.Error(err)
		}
	})
	return func(flags uintptr, bytes int) {
		if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|flags, fmt.Sprintf("size=%d", bytes)); err != nil {
			w.Fatal(err)
		}
	}
}

// oneLine checks what mage says last: one line that holds every part.
func oneLine(p *process, parts ...string) {
	p.w.Helper()
	lines := strings.Split(strings.TrimSuffix(p.stderr.String(), "\n"), "\n")
	last := lines[len(lines)-1]
	for _, part := range append(parts, "mage: ") {
		if !strings.Contains(last, part) {
			p.w.Errorf("the last line %q lacks %q", last, part)
		}
	}
}

// testFullDisk: the disk fills up in the middle of a run. The run ends with the
// reason, the rounds before it are safe, and when there is space it is finished.
func testFullDisk(t *testing.T, driver string) {
	w := newWorkshop(t, driver, gpuSpec)
	remount := smallDisk(w, 64<<10)
	p := w.run(1, "run", "spec.toml", "--kernels", "kernels")
	oneLine(p, "no space left on device", "every earlier round is safe")
	if !strings.Contains(p.stderr.String(), "mage run --resume results/gpu/") {
		t.Errorf("nothing says how to go on:\n%s", p.stderr.String())
	}
	dir := w.record()
	run, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := len(run.Lines)
	if kept == 0 || kept >= gpuRounds {
		t.Fatalf("%d rounds fit", kept)
	}
	w.run(0, "report", "gpu")

	// Still full: the same end, and nothing is lost.
	oneLine(w.run(1, "run", "--resume", dir, "--kernels", "kernels"), "no space left on device")
	if run, err := evidence.Load(dir); err != nil || len(run.Lines) < kept {
		t.Fatalf("%d lines of %d, %v", len(run.Lines), kept, err)
	}
	w.run(0, "report", "gpu")

	remount(0, 4<<20)
	w.run(0, "run", "--resume", dir, "--kernels", "kernels")
	w.complete(dir, gpuRounds, 1)
}

// testNoSpaceAtAll: a disk on which not even the record fits.
func testNoSpaceAtAll(t *testing.T, driver string) {
	w := newWorkshop(t, driver, gpuSpec)
	smallDisk(w, 4<<10)
	if err := os.WriteFile(w.path("results/filler"), make([]byte, 4<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	oneLine(w.run(1, "run", "spec.toml", "--kernels", "kernels"), "no space left on device")
	if left, _ := filepath.Glob(w.path("results/gpu/*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// testReadOnlyResults: reading works there, writing is refused in one line.
func testReadOnlyResults(t *testing.T, driver string) {
	w := newWorkshop(t, driver, gpuSpec)
	remount := smallDisk(w, 4<<20)
	p := w.startMeasuring("run", "spec.toml", "--kernels", "kernels")
	_ = p.Process.Kill()
	p.end()
	remount(syscall.MS_RDONLY, 4<<20)
	w.run(0, "report", "gpu")
	oneLine(w.run(1, "run", "spec.toml", "--kernels", "kernels"), "read-only file system")
	oneLine(w.run(1, "run", "--resume", w.record(), "--kernels", "kernels"), "read-only file system")
	w.run(0, "report", "gpu")
	remount(0, 4<<20)
	w.run(0, "run", "--resume", w.record(), "--kernels", "kernels")
	w.complete(w.record(), gpuRounds, 1)
}
