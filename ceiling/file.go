package ceiling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mage/unavailable"
)

// Encode returns the file as it is kept.
func (f *File) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// Save writes the file, whole or not at all, and replaces one that is there.
func (f *File) Save(path string) error {
	data, err := f.Encode()
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".ceilings-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// Load reads a file of ceilings.
func Load(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f File
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s is no file of ceilings: %w", path, err)
	}
	switch {
	case f.Schema == 0 || len(f.Ceilings) == 0:
		return nil, fmt.Errorf("%s is no file of ceilings: write one with mage doctor --ceilings --output FILE", path)
	case f.Schema > Schema:
		return nil, fmt.Errorf("%s is of schema %d, and this mage reads up to %d", path, f.Schema, Schema)
	}
	for _, c := range f.Ceilings {
		if c.Confirmed != nil && !(c.Confirmed.Median > 0) {
			return nil, fmt.Errorf("%s: the ceiling %s is %g %s", path, c.Name, c.Confirmed.Median, c.Unit)
		}
	}
	return &f, nil
}

// DefaultPath is where the ceilings of a device are kept for later commands: the
// user's cache, by the device's UUID.
func DefaultPath(uuid string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if uuid == "" || strings.ContainsAny(uuid, `/\`) {
		return "", fmt.Errorf("a device without a UUID has no place for its ceilings")
	}
	return filepath.Join(cache, "mage", "ceilings", uuid+".json"), nil
}

// Keep saves the file at its default path and returns that.
func (f *File) Keep() (string, error) {
	path, err := DefaultPath(f.Device.UUID)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, f.Save(path)
}

// Kept returns the ceilings that were last measured on a device, or an
// *unavailable.Error if none were.
func Kept(uuid string) (*File, error) {
	path, err := DefaultPath(uuid)
	if err != nil {
		return nil, unavailable.New("measured ceilings", err.Error(), "")
	}
	f, err := Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unavailable.New("measured ceilings", "none were measured on this device", "run mage doctor --ceilings")
	}
	return f, err
}
