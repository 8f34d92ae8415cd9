package ceiling

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/unavailable"
)

// lab is the device with what was made on it.
type lab struct {
	dev     gpu.Device
	stream  gpu.Stream
	modules map[string]gpu.Module
	owned   []gpu.Ptr
}

func newLab(dev gpu.Device, stream gpu.Stream) *lab {
	return &lab{dev: dev, stream: stream, modules: map[string]gpu.Module{}}
}

// close frees everything. After a fault nothing can be freed, and the fault is
// what the caller reports.
func (l *lab) close() {
	_ = l.free()
	for _, m := range l.modules {
		_ = m.Unload()
	}
	l.modules = map[string]gpu.Module{}
}

// free gives the buffers of a shape back.
func (l *lab) free() error {
	var errs []error
	for _, p := range l.owned {
		errs = append(errs, l.dev.Free(p))
	}
	l.owned = nil
	return errors.Join(errs...)
}

func (l *lab) alloc(bytes int64) (gpu.Ptr, error) {
	p, err := l.dev.Alloc(bytes)
	if errors.Is(err, cuda.ErrOutOfMemory) { // others may have it: a smaller shape may fit
		return 0, unavailable.New("memory", err.Error(), "")
	}
	if err != nil {
		return 0, fmt.Errorf("allocating %d bytes: %w", bytes, err)
	}
	l.owned = append(l.owned, p)
	return p, nil
}

func (l *lab) bind(i image, entry string, c gpu.Config, args ...gpu.Arg) (gpu.Launch, error) {
	m, err := l.load(i)
	if err != nil {
		return nil, err
	}
	f, err := m.Function(entry)
	if err != nil {
		return nil, err
	}
	return f.Bind(c, args...)
}

// once launches a kernel of the general image and waits.
func (l *lab) once(entry string, c gpu.Config, args ...gpu.Arg) error {
	general, _, _ := images()
	launch, err := l.bind(general, entry, c, args...)
	if err != nil {
		return err
	}
	if err := launch.Submit(l.stream); err != nil {
		return err
	}
	return l.stream.Synchronize()
}

func line(blocks, threads int) gpu.Config {
	return gpu.Config{Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{uint32(threads), 1, 1}}
}

// vector is what a thread moves at once: four words.
const vector = 16

// filled allocates a buffer of affine words and proves that it holds them.
// vectors must be a multiple of 1024.
func (l *lab) filled(vectors int64, f affine) (gpu.Ptr, error) {
	p, err := l.alloc(vectors * vector)
	if err != nil {
		return 0, err
	}
	err = l.once("write_4", line(int(vectors/1024), 256), gpu.Pointer(p), gpu.Uint32(uint32(vectors)), gpu.Uint32(f.m), gpu.Uint32(f.a))
	if err != nil {
		return 0, err
	}
	_, err = l.expect(p, vectors, f)
	return p, err
}

// wrongResult says that a kernel computed something else than its closed form.
type wrongResult struct{ problem string }

func (e *wrongResult) Error() string { return e.problem }

func wrongf(format string, args ...any) error { return &wrongResult{fmt.Sprintf(format, args...)} }

// expect compares every word of a buffer on the device, and some on the host, lest
// it be the comparison that is wrong. It returns how many words it compared.
func (l *lab) expect(p gpu.Ptr, vectors int64, f affine) (int64, error) {
	counts, err := l.alloc(8)
	if err != nil {
		return 0, err
	}
	if err := l.dev.Fill(counts, 0, 8); err != nil {
		return 0, err
	}
	blocks := int(min(4096, (vectors+255)/256))
	err = l.once("check", line(blocks, 256), gpu.Pointer(p), gpu.Uint32(uint32(vectors)), gpu.Uint32(f.m), gpu.Uint32(f.a), gpu.Pointer(counts), gpu.Pointer(counts+4))
	if err != nil {
		return 0, err
	}
	got, err := l.words(counts, 2)
	if err != nil {
		return 0, err
	}
	if wrong, seen := got[0], got[1]; wrong != 0 || seen != word(4*vectors) {
		return 0, wrongf("%d of %d words are not what the closed form says (%d compared)", wrong, 4*vectors, seen)
	}
	return 4 * vectors, l.glance(p, vectors, f)
}

// glance compares windows at both ends of a buffer and at random places.
func (l *lab) glance(p gpu.Ptr, vectors int64, f affine) error {
	const window = 1024 // words
	words := 4 * vectors
	n := min(window, words)
	r := rand.New(rand.NewPCG(uint64(words), 1))
	at := []int64{0, words - n}
	for range 6 {
		at = append(at, r.Int64N(words-n+1))
	}
	for _, first := range at {
		got, err := l.words(p+gpu.Ptr(4*first), int(n))
		if err != nil {
			return err
		}
		for i, v := range got {
			if want := f.at(uint64(first) + uint64(i)); v != want {
				return wrongf("word %d is %#x, the closed form says %#x", first+int64(i), v, want)
			}
		}
	}
	return nil
}

// words downloads n words.
func (l *lab) words(p gpu.Ptr, n int) ([]word, error) {
	raw := make([]byte, 4*n)
	if err := l.dev.Download(raw, p); err != nil {
		return nil, err
	}
	out := make([]word, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out, nil
}

// equal compares n units of a result, of len(want) words each, with want.
func (l *lab) equal(p gpu.Ptr, n int, want []word) (int64, error) {
	got, err := l.words(p, n*len(want))
	if err != nil {
		return 0, err
	}
	for i := range n {
		if part := got[i*len(want) : (i+1)*len(want)]; !slices.Equal(part, want) {
			for j := range part {
				if part[j] != want[j] {
					return 0, wrongf("word %d is %#x, the closed form says %#x", i*len(want)+j, part[j], want[j])
				}
			}
		}
	}
	return int64(len(got)), nil
}
