package refcache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mage/contract"
)

// DefaultMaxBytes bounds the cache of New: 2 GiB.
const DefaultMaxBytes = 2 << 30

// Cache is a directory of references. The zero value computes every time.
// Several processes may share a directory.
type Cache struct {
	// Dir is created when it is first written to. Empty: nothing is cached.
	Dir string
	// MaxBytes bounds the files together; those unused for longest go first. A
	// reference larger than a quarter of it is not kept. 0: nothing is kept.
	MaxBytes int64
}

// New returns the user's cache: <os.UserCacheDir>/mage/reference. Without such
// a directory (no HOME, say) it returns a cache that computes every time, and
// the reason.
func New() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, fmt.Errorf("references are not cached: %w", err)
	}
	return Cache{Dir: filepath.Join(dir, "mage", "reference"), MaxBytes: DefaultMaxBytes}, nil
}

// Reference returns c.Reference(d, in), from disk when it is there. The inputs
// must have passed CheckInputs. The value is always valid; warning says why it
// could not be kept, or that a damaged file was replaced.
func (k Cache) Reference(c contract.Contract, d contract.Dims, in contract.Tensors) (ref []float64, warning error) {
	size := fileSize(c.Output(d).Len())
	if k.Dir == "" || size > k.MaxBytes/4 {
		return c.Reference(d, in), nil
	}
	key := keyOf(c, d, in)
	path := filepath.Join(k.Dir, key.String()+suffix)
	ref, err := read(path, key, c.Output(d).Len())
	if err == nil {
		now := time.Now() // marks the use, for the eviction; a read-only cache still serves
		_ = os.Chtimes(path, now, now)
		return ref, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		warning = fmt.Errorf("reference cache: computed again: %w", err)
	}
	ref = c.Reference(d, in)
	if err := k.store(path, key, ref); err != nil {
		if warning == nil {
			return ref, fmt.Errorf("reference cache: not kept: %w", err)
		}
		warning = fmt.Errorf("%w; not kept: %w", warning, err)
	}
	return ref, warning
}

func (k Cache) store(path string, key key, ref []float64) error {
	if err := os.MkdirAll(k.Dir, 0o755); err != nil {
		return err
	}
	if err := write(path, key, ref); err != nil {
		return err
	}
	return k.evict(path)
}
