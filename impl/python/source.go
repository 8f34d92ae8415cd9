package python

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mage/kernels/triton"
)

//go:embed worker
var workerSource embed.FS

// writeSource puts the worker's modules, and the Triton kernels as the package
// mage_kernels, into dir. extra, which tests use, lies over them.
func writeSource(dir string, extra fs.FS) error {
	worker, err := fs.Sub(workerSource, "worker")
	if err != nil {
		return err
	}
	if err := copyTree(dir, worker); err != nil {
		return err
	}
	if err := copyTree(filepath.Join(dir, "mage_kernels"), triton.Sources); err != nil {
		return err
	}
	if extra == nil {
		return nil
	}
	return copyTree(dir, extra)
}

func copyTree(dir string, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600)
	})
}

// sourceSHA256 hashes the worker's modules: each as its name, its length and its
// content, in the order of their names.
func sourceSHA256() string {
	h := sha256.New()
	_ = fs.WalkDir(workerSource, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := workerSource.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		h.Write(text)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))
}
