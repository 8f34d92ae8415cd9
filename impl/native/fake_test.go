package native

import (
	"bytes"
	little "encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"

	"mage/gpu"
	"mage/unavailable"
)

// fakeDevice is a gpu.Device in host memory that executes known entries with Go
// functions when their stream is synchronized, as a GPU would at the latest.
// Every access is checked against the allocations.
type fakeDevice struct {
	info    gpu.Info
	memory  map[gpu.Ptr][]byte
	next    gpu.Ptr
	allocs  int
	failAt  int // the number of the allocation that fails; 0: none
	modules int // loaded and not unloaded
	entries map[string]fakeEntry
	fault   error // of the next Synchronize
	loaded  [][]byte
}

// fakeEntry computes what a kernel would, and says which argument sizes it takes.
type fakeEntry struct {
	sizes []uint8
	run   func(d *fakeDevice, c gpu.Config, args []gpu.Arg) error
}

var errFakeMemory = errors.New("CUDA_ERROR_OUT_OF_MEMORY (cuMemAlloc)")

func newFakeDevice() *fakeDevice {
	return &fakeDevice{
		info: gpu.Info{Backend: "cuda", Name: "fake", ComputeCapability: "9.0", MaxThreadsPerBlock: 1024,
			SharedPerBlock: 48 << 10, SharedPerBlockOptin: 227 << 10},
		memory:  map[gpu.Ptr][]byte{},
		next:    1 << 20,
		entries: fakeEntries(),
	}
}

func (d *fakeDevice) Info() gpu.Info { return d.info }

func (d *fakeDevice) Alloc(n int64) (gpu.Ptr, error) {
	d.allocs++
	if d.allocs == d.failAt {
		return 0, errFakeMemory
	}
	p := d.next
	d.memory[p] = bytes.Repeat([]byte{0xCD}, int(n)) // not zero: nothing may rely on it
	d.next += gpu.Ptr((n/256 + 2) * 256)
	return p, nil
}

func (d *fakeDevice) Free(p gpu.Ptr) error {
	if _, ok := d.memory[p]; !ok {
		return fmt.Errorf("free of %#x, which is not allocated", p)
	}
	delete(d.memory, p)
	return nil
}

// at returns n bytes at p, which must lie within one allocation.
func (d *fakeDevice) at(p gpu.Ptr, n int64) ([]byte, error) {
	for start, b := range d.memory {
		if p >= start && p < start+gpu.Ptr(max(len(b), 1)) {
			from := int64(p - start)
			if from+n > int64(len(b)) {
				return nil, fmt.Errorf("%d bytes at %#x pass the end of an allocation", n, p)
			}
			return b[from : from+n], nil
		}
	}
	return nil, fmt.Errorf("%#x is in no allocation", p)
}

func (d *fakeDevice) Upload(dst gpu.Ptr, src []byte) error {
	b, err := d.at(dst, int64(len(src)))
	copy(b, src)
	return err
}

func (d *fakeDevice) Download(dst []byte, src gpu.Ptr) error {
	b, err := d.at(src, int64(len(dst)))
	copy(dst, b)
	return err
}

func (d *fakeDevice) Fill(dst gpu.Ptr, value byte, n int64) error {
	b, err := d.at(dst, n)
	for i := range b {
		b[i] = value
	}
	return err
}

func (d *fakeDevice) NewStream() (gpu.Stream, error) { return &fakeStream{device: d}, nil }
func (d *fakeDevice) State() (gpu.State, error)      { return gpu.State{Throttle: []string{"fake"}}, nil }

func (d *fakeDevice) NewEvent() (gpu.Event, error) {
	return nil, unavailable.New("events", "fake device", "")
}

func (d *fakeDevice) TraceKernels(func() error) ([]gpu.KernelRecord, error) {
	return nil, unavailable.New("kernel traces", "fake device", "")
}

func (d *fakeDevice) ProfilerStart() error { return nil }
func (d *fakeDevice) ProfilerStop() error  { return nil }
func (d *fakeDevice) Close() error         { return nil }

var ptxEntry = regexp.MustCompile(`\.entry (\w+)`)

// Load finds the entries that the PTX, or the fake compiler's "cubin", declares.
func (d *fakeDevice) Load(image []byte) (gpu.Module, error) {
	names := map[string]bool{}
	for _, m := range ptxEntry.FindAllSubmatch(image, -1) {
		names[string(m[1])] = true
	}
	if len(names) == 0 {
		return nil, errors.New("CUDA_ERROR_INVALID_IMAGE (cuModuleLoadData)")
	}
	d.modules++
	d.loaded = append(d.loaded, image)
	return &fakeModule{d, names}, nil
}

type fakeModule struct {
	device *fakeDevice
	names  map[string]bool
}

func (m *fakeModule) Function(name string) (gpu.Function, error) {
	e, known := m.device.entries[name]
	if !m.names[name] || !known {
		return nil, fmt.Errorf("CUDA_ERROR_NOT_FOUND (cuModuleGetFunction %s)", name)
	}
	return &fakeFunction{m.device, name, e}, nil
}

func (m *fakeModule) Unload() error {
	m.device.modules--
	return nil
}

type fakeFunction struct {
	device *fakeDevice
	name   string
	entry  fakeEntry
}

func (f *fakeFunction) Name() string { return f.name }

func (f *fakeFunction) Attributes() (gpu.Attributes, error) {
	return gpu.Attributes{Registers: 32, MaxThreadsPerBlock: 1024}, nil
}

func (f *fakeFunction) Bind(c gpu.Config, args ...gpu.Arg) (gpu.Launch, error) {
	if len(args) != len(f.entry.sizes) {
		return nil, fmt.Errorf("%s takes %d arguments, got %d", f.name, len(f.entry.sizes), len(args))
	}
	for i, a := range args {
		if a.Size != f.entry.sizes[i] {
			return nil, fmt.Errorf("argument %d of %s has %d bytes, want %d", i, f.name, a.Size, f.entry.sizes[i])
		}
	}
	for i := range 3 {
		if c.Grid[i] == 0 || c.Block[i] == 0 {
			return nil, fmt.Errorf("grid %v, block %v", c.Grid, c.Block)
		}
	}
	l := &fakeLaunch{}
	l.work = func() error { return f.entry.run(f.device, c, args) }
	return l, nil
}

type fakeLaunch struct{ work func() error }

func (l *fakeLaunch) Submit(s gpu.Stream) error {
	s.(*fakeStream).push(l.work)
	return nil
}

// fakeStream keeps what is queued until it is synchronized.
type fakeStream struct {
	device *fakeDevice
	queue  []func() error
	drop   bool // counts only: for measuring what submitting costs
	count  int
}

func (s *fakeStream) push(f func() error) {
	s.count++
	if !s.drop {
		s.queue = append(s.queue, f)
	}
}

func (s *fakeStream) Synchronize() error {
	for _, f := range s.queue {
		if err := f(); err != nil {
			return err
		}
	}
	s.queue = nil
	err := s.device.fault
	s.device.fault = nil
	return err
}

func (s *fakeStream) FillAsync(dst gpu.Ptr, value byte, n int64) error {
	if s.drop {
		s.count++
		return nil
	}
	s.push(func() error { return s.device.Fill(dst, value, n) })
	return nil
}

func (s *fakeStream) CopyAsync(dst, src gpu.Ptr, n int64) error { return errors.New("not used") }
func (s *fakeStream) Record(gpu.Event) error                    { return errors.New("not used") }
func (s *fakeStream) Capture(func() error) (gpu.Graph, error)   { return nil, errors.New("not used") }
func (s *fakeStream) Replay(gpu.Graph) error                    { return errors.New("not used") }
func (s *fakeStream) Destroy() error                            { return nil }

// array reads and writes device memory as 4-byte elements.
type array struct{ b []byte }

func (d *fakeDevice) array(a gpu.Arg, n int) (array, error) {
	b, err := d.at(gpu.Ptr(a.Bits), int64(4*n))
	return array{b}, err
}

func (a array) u(i int) int     { return int(little.LittleEndian.Uint32(a.b[4*i:])) }
func (a array) f(i int) float64 { return float64(math.Float32frombits(uint32(a.u(i)))) }

func (a array) set(i int, x float64) {
	little.LittleEndian.PutUint32(a.b[4*i:], math.Float32bits(float32(x)))
}
