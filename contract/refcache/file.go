package refcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// A file is magic, then the SHA-256 of key and values, then the values as
// little-endian float64.
const (
	magic      = "mageref1"
	headerSize = len(magic) + sha256.Size
	suffix     = ".f64"
	tempPrefix = "writing-"
)

func fileSize(elements int) int64 { return int64(headerSize) + 8*int64(elements) }

// read returns the n values of a file, or an error that is os.ErrNotExist only
// when there is none.
func read(path string, k key, n int) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The size comes first: a damaged file must not cost a large allocation.
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	if info.Size() != fileSize(n) {
		return nil, fmt.Errorf("%s holds %d bytes, want %d", name, info.Size(), fileSize(n))
	}
	data := make([]byte, fileSize(n))
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	values := data[headerSize:]
	if string(data[:len(magic)]) != magic || !bytes.Equal(data[len(magic):headerSize], hash(k, values)) {
		return nil, fmt.Errorf("%s is damaged: its hash differs", name)
	}
	ref := make([]float64, n)
	for i := range ref {
		ref[i] = math.Float64frombits(binary.LittleEndian.Uint64(values[8*i:]))
	}
	return ref, nil
}

// write replaces the file as a whole or not at all.
func write(path string, k key, ref []float64) error {
	data := make([]byte, fileSize(len(ref)))
	values := data[headerSize:]
	for i, v := range ref {
		binary.LittleEndian.PutUint64(values[8*i:], math.Float64bits(v))
	}
	copy(data, magic)
	copy(data[len(magic):], hash(k, values))
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	// No sync: after a power loss the hash tells, and the file is made again.
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// hash covers the key as well, so that a renamed file is not believed.
func hash(k key, values []byte) []byte {
	h := sha256.New()
	h.Write(k[:])
	h.Write(values)
	return h.Sum(nil)
}
