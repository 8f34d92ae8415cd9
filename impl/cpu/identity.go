package cpu

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
)

//go:embed *.go
var source embed.FS

// sourceSHA256 hashes the package's files, without its tests, each as its name,
// its length and its content, in the order of their names.
func sourceSHA256() string {
	h := sha256.New()
	names, err := fs.Glob(source, "*.go")
	if err != nil {
		return ""
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := source.ReadFile(name)
		if err != nil {
			return ""
		}
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// executable hashes the running program, once.
type executable struct {
	once sync.Once
	hash string
	err  error
}

func (e *executable) sha256() (string, error) {
	e.once.Do(func() {
		path, err := os.Executable()
		if err != nil {
			e.err = fmt.Errorf("finding the running executable: %w", err)
			return
		}
		f, err := os.Open(path)
		if err != nil {
			e.err = fmt.Errorf("hashing the running executable: %w", err)
			return
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			e.err = fmt.Errorf("hashing the running executable: %w", err)
			return
		}
		e.hash = hex.EncodeToString(h.Sum(nil))
	})
	return e.hash, e.err
}
