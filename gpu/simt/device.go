package simt

import (
	"errors"
	"fmt"
	"runtime"

	"mage/gpu"
	"mage/gpu/simt/exec"
	"mage/gpu/simt/memory"
	"mage/gpu/verdict"
	"mage/unavailable"
)

// The parts of a verdict on launches.
type (
	Counters = verdict.Counters
	Traffic  = verdict.Traffic
	Banks    = verdict.Banks
	Finding  = verdict.Finding
)

// Site is one instruction of a kernel and what it cost.
type Site = exec.Site

// Options say what device to simulate. The zero value is ready for use.
type Options struct {
	// Workers is the number of goroutines that execute blocks, 0 for one per core.
	// With 1, blocks run one after the other, in order.
	Workers int
	// Unchecked turns off the checks for races and for reads of what nothing wrote.
	// Addresses are always checked.
	Unchecked bool
	// Sites asks for the cost of every instruction, see Device.Sites.
	Sites bool
	// MemoryBytes limits global memory, 0 for 16 GiB.
	MemoryBytes int64
	// MaxBlockInstructions ends a launch of which one block executes more warp
	// instructions, 0 for 2³¹.
	MaxBlockInstructions int64
}

// What the simulated device offers per block: the limits of an H200.
const (
	maxThreads  = 1024
	sharedPlain = 48 << 10
	sharedOptin = 227 << 10
)

// Device is a simulated GPU. Like every gpu.Device it belongs to one goroutine.
type Device struct {
	options  Options
	info     gpu.Info
	memory   *memory.Space
	counters Counters
	findings []Finding
	sites    []Site
	printed  []byte
	streams  map[*stream]struct{}
	modules  map[*module]struct{}
	launches uint64
	closed   bool
	watch    exec.Watch
}

var _ gpu.Device = (*Device)(nil)

// ErrStopped is what a launch returns that Device.Stop ended.
var ErrStopped = exec.ErrStopped

// Progress is how far a launch has come.
type Progress = exec.Progress

// ErrClosed is what a closed device returns.
var ErrClosed = errors.New("the simulated device is closed")

// Open makes a device. It fails only for options that make no sense.
func Open(o Options) (*Device, error) {
	if o.Workers < 0 || o.MemoryBytes < 0 || o.MaxBlockInstructions < 0 {
		return nil, fmt.Errorf("simulated device: negative options: %+v", o)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 16 << 30
	}
	return &Device{
		options: o,
		memory:  memory.New(o.MemoryBytes),
		streams: map[*stream]struct{}{},
		modules: map[*module]struct{}{},
		info: gpu.Info{
			Backend:             "simt",
			Name:                "SIMT simulator",
			ComputeCapability:   "9.0",
			Multiprocessors:     exec.Multiprocessors,
			MaxThreadsPerBlock:  maxThreads,
			SharedPerBlock:      sharedPlain,
			SharedPerBlockOptin: sharedOptin,
			MemoryBytes:         o.MemoryBytes,
		},
	}, nil
}

// Info describes the device. Rates and caches are zero: there are none.
func (d *Device) Info() gpu.Info { return d.info }

// Counters returns what the launches since the last reset cost, together.
func (d *Device) Counters() Counters { return d.counters }

// ResetCounters begins anew.
func (d *Device) ResetCounters() {
	d.counters = Counters{}
	d.sites = nil
}

// Sites returns the instructions that the launches since the last reset executed,
// and what each cost, by kernel and line; nothing unless Options asked for it.
func (d *Device) Sites() []Site { return d.sites }

// Findings returns what the checks found in all launches so far.
func (d *Device) Findings() []Finding { return d.findings }

// Printed returns what kernels have printed, in order of launches and blocks, and
// forgets it. Of a launch that prints more than 1 MiB the rest is lost.
func (d *Device) Printed() []byte {
	text := d.printed
	d.printed = nil
	return text
}

// Stop ends the launch that runs, within milliseconds, and every later one before it
// begins. Unlike all other methods it and Progress may be called from any goroutine.
func (d *Device) Stop() { d.watch.Stop() }

// Progress returns that of the launch that runs, false if none does.
func (d *Device) Progress() (Progress, bool) { return d.watch.Progress() }

func (d *Device) usable() error {
	if d.closed {
		return ErrClosed
	}
	return nil
}

// Alloc returns memory with unmapped gaps of 256 MiB around it.
func (d *Device) Alloc(bytes int64) (gpu.Ptr, error) {
	if err := d.usable(); err != nil {
		return 0, err
	}
	a, err := d.memory.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	return gpu.Ptr(a.Base), nil
}

// AllocNamed returns bytes of memory that findings call by a name. Its first and last
// margin bytes are the host's alone: to a kernel they are not mapped, and an access
// there is a finding. The margin is a multiple of 256, so that what lies between is
// aligned.
func (d *Device) AllocNamed(name string, bytes, margin int64) (gpu.Ptr, error) {
	if err := d.usable(); err != nil {
		return 0, err
	}
	if margin < 0 || margin%256 != 0 || bytes < 2*margin {
		return 0, fmt.Errorf("allocate %s: margins of %d do not fit %d bytes", name, margin, bytes)
	}
	a, err := d.memory.AllocGuarded(bytes-2*margin, margin)
	if err != nil {
		return 0, err
	}
	a.Name = name
	return gpu.Ptr(a.Start()), nil
}

// Free gives memory back. It waits for work that may use it.
func (d *Device) Free(p gpu.Ptr) error {
	if err := d.usable(); err != nil {
		return err
	}
	err := d.drain()
	return errors.Join(err, d.memory.Free(uint64(p)))
}

// drain runs what is queued on every stream.
func (d *Device) drain() error {
	var errs []error
	for s := range d.streams {
		errs = append(errs, s.Synchronize())
	}
	return errors.Join(errs...)
}

// Upload copies src to device memory.
func (d *Device) Upload(dst gpu.Ptr, src []byte) error {
	if err := d.usable(); err != nil {
		return err
	}
	if len(src) == 0 {
		return nil
	}
	a, b, err := d.memory.Range(uint64(dst), int64(len(src)))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	copy(b, src)
	a.MarkWritten(int64(uint64(dst)-a.Base), int64(len(src)))
	return nil
}

// Download copies device memory to dst. It does not wait for streams.
func (d *Device) Download(dst []byte, src gpu.Ptr) error {
	if err := d.usable(); err != nil {
		return err
	}
	if len(dst) == 0 {
		return nil
	}
	_, b, err := d.memory.Range(uint64(src), int64(len(dst)))
	if err != nil {
		return fmt.Errorf("download: %w", err)
	}
	copy(dst, b)
	return nil
}

// Fill sets each of bytes to value.
func (d *Device) Fill(dst gpu.Ptr, value byte, bytes int64) error {
	if err := d.usable(); err != nil {
		return err
	}
	if bytes == 0 {
		return nil
	}
	a, b, err := d.memory.Range(uint64(dst), bytes)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	for i := range b {
		b[i] = value
	}
	a.MarkWritten(int64(uint64(dst)-a.Base), bytes)
	return nil
}

// MarkUnwritten makes bytes count as written by nobody, whatever they hold: for poison,
// which no kernel may read.
func (d *Device) MarkUnwritten(p gpu.Ptr, bytes int64) error {
	if err := d.usable(); err != nil {
		return err
	}
	a, _, err := d.memory.Range(uint64(p), bytes)
	if err != nil {
		return fmt.Errorf("mark as unwritten: %w", err)
	}
	a.MarkUnwritten(int64(uint64(p)-a.Base), bytes)
	return nil
}

// gpuRemedy is what helps where the simulator does not.
const gpuRemedy = "use a machine with an NVIDIA GPU"

// noClock is the reason for everything that is a matter of time.
func noClock(what string) error {
	return unavailable.New(what, "the simulator measures no time", gpuRemedy)
}

// NewEvent is unavailable.
func (d *Device) NewEvent() (gpu.Event, error) { return nil, noClock("event") }

// TraceKernels is unavailable.
func (d *Device) TraceKernels(func() error) ([]gpu.KernelRecord, error) {
	return nil, noClock("kernel trace")
}

// State offers no reading.
func (d *Device) State() (gpu.State, error) { return gpu.State{}, d.usable() }

// ProfilerStart does nothing: no profiler watches.
func (d *Device) ProfilerStart() error { return d.usable() }

// ProfilerStop does nothing.
func (d *Device) ProfilerStop() error { return d.usable() }

// Close drops everything. It returns the error of work that was still queued.
func (d *Device) Close() error {
	if d.closed {
		return nil
	}
	err := d.drain()
	d.closed = true
	d.memory = memory.New(0)
	return err
}
