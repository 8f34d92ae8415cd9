package cupti

import (
	"context"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"mage/unavailable"
)

//go:embed inject/inject.c inject/*.h
var source embed.FS

//go:embed inject/linux_amd64.so
var library []byte

const (
	what        = "tracing by CUPTI"
	libraryFile = "mage-cupti.so"
)

// install writes the library for this platform into dir and returns its path.
func install(ctx context.Context, dir, goos, goarch string) (string, error) {
	path := filepath.Join(dir, libraryFile)
	switch {
	case goos != "linux":
		return "", unavailable.New(what, "the CUDA driver of "+goos+" is not supported", "")
	case goarch == "amd64":
		return path, os.WriteFile(path, library, 0o755)
	}
	return path, compile(ctx, path)
}

// compile builds the library for a platform that has no embedded one.
func compile(ctx context.Context, path string) error {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return unavailable.New(what, "there is no built library for "+runtime.GOARCH+", and no C compiler to make one", "install cc")
	}
	work, err := os.MkdirTemp("", "mage-cupti-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, source); err != nil {
		return err
	}
	c := filepath.Join(work, "inject", "inject.c")
	cmd := exec.CommandContext(ctx, compiler, "-std=gnu11", "-Os", "-fPIC", "-fvisibility=hidden", "-shared",
		"-Wl,-z,nodelete", "-o", path, c, "-ldl", "-lpthread")
	if out, err := cmd.CombinedOutput(); err != nil {
		return unavailable.Newf(what, "the library was not compiled: %v: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
