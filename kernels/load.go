package kernels

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed cuda rust/first
var builtin embed.FS

// Builtin returns the kernels that come with Mage.
func Builtin() fs.FS { return builtin }

// DescriptionName is the file that makes a directory a kernel.
const DescriptionName = "kernel.toml"

// Load reads every kernel below the root of fsys, in lexical order of their
// directories; those whose name starts with a dot are passed over. origin is what messages call the root: "kernels", "my/kernels".
//
// The error joins every fault found, each with file and line. Kernels without
// faults are returned beside it, so one bad kernel does not hide the others.
func Load(fsys fs.FS, origin string) ([]Kernel, error) {
	var kernels []Kernel
	var errs []error
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading kernels in %s: %w", path.Join(origin, name), reason(err))
		}
		if entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir // .git, .venv: large, and never kernels
		}
		if entry.IsDir() || entry.Name() != DescriptionName {
			return nil
		}
		k, faults := loadOne(fsys, name, path.Join(origin, name))
		if len(faults) > 0 {
			errs = append(errs, faults...)
			return nil
		}
		if other := duplicate(kernels, k); other != "" {
			errs = append(errs, &Error{k.File, 1, fmt.Sprintf("%s is already described by %s", k.Name(), other)})
			return nil
		}
		kernels = append(kernels, k)
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	if len(kernels) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("no kernel in %s: no directory there has a %s", origin, DescriptionName))
	}
	return kernels, errors.Join(errs...)
}

// Merge joins lists of kernels and refuses two for the same implementation,
// contract and precision mode: neither may silently replace the other.
func Merge(lists ...[]Kernel) ([]Kernel, error) {
	var all []Kernel
	for _, list := range lists {
		for _, k := range list {
			if other := duplicate(all, k); other != "" {
				return nil, &Error{k.File, 1, fmt.Sprintf("%s is already described by %s", k.Name(), other)}
			}
			all = append(all, k)
		}
	}
	return all, nil
}

// duplicate returns the file of the kernel that computes the same as k.
func duplicate(kernels []Kernel, k Kernel) string {
	for _, other := range kernels {
		if other.Implementation != k.Implementation || other.Contract != k.Contract {
			continue
		}
		for _, p := range other.Precisions {
			for _, q := range k.Precisions {
				if p == q {
					return other.File
				}
			}
		}
	}
	return ""
}

// loadOne reads the description name of fsys and what lies beside it; file is
// what messages call it.
func loadOne(fsys fs.FS, name, file string) (Kernel, []error) {
	text, err := readFile(fsys, name)
	if err != nil {
		return Kernel{}, []error{fmt.Errorf("reading %s: %w", file, reason(err))}
	}
	d, faults := decode(file, string(text))
	if len(faults) > 0 {
		return Kernel{}, faults
	}
	c := &checker{file: file, at: newLocator(string(text))}
	k := c.kernel(d)
	if len(c.errs) > 0 {
		return Kernel{}, c.errs
	}
	source, err := readFile(fsys, path.Join(path.Dir(name), k.SourceName))
	if err != nil {
		c.fail(c.at.key("", 0, "source"), "source %q: %v", k.SourceName, reason(err))
		return Kernel{}, c.errs
	}
	k.Source, k.SourceSHA256 = string(source), hash(string(source))
	ptx, err := readFile(fsys, path.Join(path.Dir(name), k.PTXName()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.fail(1, "%s: %v", k.PTXName(), reason(err))
	default:
		k.PTX = parsePTX(ptx)
	}
	return k, c.errs
}

// maxFileBytes is far above what a person or a compiler writes for a kernel.
const maxFileBytes = 64 << 20

// readFile is fs.ReadFile for files that are what a kernel consists of: to wait
// at a pipe, or to fill the memory with a disk image, would help nobody.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%d bytes are no part of a kernel: want %d at most", info.Size(), maxFileBytes)
	}
	return fs.ReadFile(fsys, name)
}

// PTXName is the name of the compiled file that may lie beside the source.
func (k Kernel) PTXName() string {
	return strings.TrimSuffix(k.SourceName, path.Ext(k.SourceName)) + ".ptx"
}

// reason is err without the path, which the caller has said already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
