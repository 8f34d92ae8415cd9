package evidence

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// file is what a journal needs of a file; tests put failing disks behind it.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// journal is a file that only grows. size is the length up to which its content
// is known to be whole.
type journal struct {
	name   string
	f      file
	size   int64
	dirty  bool
	broken error // the content beyond size is in doubt: nothing may follow it
}

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &journal{name: filepath.Base(path), f: f, size: info.Size()}, nil
}

// append writes all of b or, where the disk allows, leaves the file as it was.
func (j *journal) append(b []byte) error {
	if j.broken != nil {
		return fmt.Errorf("%s is in doubt since an earlier failure: %w", j.name, j.broken)
	}
	if _, err := j.f.Write(b); err != nil {
		if undo := j.f.Truncate(j.size); undo != nil {
			j.broken = err
		}
		return fmt.Errorf("write %s: %w", j.name, err)
	}
	j.size += int64(len(b))
	j.dirty = true
	return nil
}

// sync forces to disk what was appended. After a failure the kernel may have
// dropped the pages and call the next sync a success, so nothing more is written.
func (j *journal) sync() error {
	if j.broken != nil || !j.dirty {
		return j.broken
	}
	if err := j.f.Sync(); err != nil {
		j.broken = err
		return fmt.Errorf("sync %s: %w", j.name, err)
	}
	j.dirty = false
	return nil
}

// writeAtomic replaces dir/name by data: whoever opens it, before or after a
// crash, finds the old content or the new, whole.
func writeAtomic(dir, name string, data []byte) error {
	temp := filepath.Join(dir, tempName(name))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(dir)
}

func tempName(name string) string { return "." + name + ".new" }

// syncDir makes the creations and renames in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

// setAside moves what follows offset at in dir/name to the end of
// dir/name.torn. A kill in between leaves the bytes in both: nothing is lost.
func setAside(dir, name string, at int64) error {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	torn, err := openJournal(path + tornSuffix)
	if err != nil {
		return err
	}
	err = torn.append(append(data[at:len(data):len(data)], '\n'))
	if err == nil {
		err = torn.sync()
	}
	if e := torn.f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return err
	}
	j, err := openJournal(path)
	if err != nil {
		return err
	}
	err = j.f.Truncate(at)
	if err == nil {
		err = j.f.Sync()
	}
	if e := j.f.Close(); err == nil {
		err = e
	}
	return err
}
