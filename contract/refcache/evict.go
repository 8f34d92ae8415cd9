package refcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// abandoned is the age from which a half-written file belongs to a process that
// was killed: writing one takes seconds.
const abandoned = time.Hour

// evict removes the files unused for longest until the rest fits MaxBytes, and
// what killed processes left. It spares the file just written, and everything
// in the directory that is not its own.
func (k Cache) evict(written string) error {
	entries, err := os.ReadDir(k.Dir)
	if err != nil {
		return err
	}
	type file struct {
		path string
		size int64
		used time.Time
	}
	var files []file
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // another process removed it
		}
		path := filepath.Join(k.Dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), tempPrefix):
			if time.Since(info.ModTime()) > abandoned {
				os.Remove(path)
			}
		case strings.HasSuffix(e.Name(), suffix):
			total += info.Size()
			if path != written {
				files = append(files, file{path, info.Size(), info.ModTime()})
			}
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].used.Before(files[j].used) })
	for _, f := range files {
		if total <= k.MaxBytes {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= f.size
	}
	return nil
}
