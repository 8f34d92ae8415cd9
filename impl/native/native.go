package native

import (
	"fmt"

	"mage/contract"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/kernels"
	"mage/timing"
	"mage/unavailable"
)

// Timer measures an operation that submit queues on the stream that the timer
// was made with. *timing.Device is one.
type Timer interface {
	Measure(submit func() error, req timing.Request) (timing.Reading, error)
}

// Compiler makes device code of CUDA C++. *cuda.NVRTC is one.
type Compiler interface {
	Version() string // "13.0"
	// SupportedArchs lists what can be compiled for, ascending: 90 for sm_90.
	SupportedArchs() ([]int, error)
	Compile(name, source string, options []string) (cuda.Compiled, error)
}

// Options is what kernels run on. Device, Stream and Timer belong together.
type Options struct {
	Device gpu.Device
	Stream gpu.Stream
	// DeviceID is the device's name in records: "cuda:0".
	DeviceID string
	// Timer may be nil: then nothing can be measured.
	Timer Timer
	// Compiler may be nil: then the PTX beside the sources is loaded.
	Compiler Compiler
}

// Implementation is all kernels of one name on one device.
type Implementation struct {
	name    string
	kernels []kernels.Kernel
	options Options
	binary  *binaries
}

// New returns one implementation per name in ks, in the order of their first
// kernels. Two kernels for the same contract and precision mode are an error.
func New(o Options, ks []kernels.Kernel) ([]impl.Implementation, error) {
	if _, err := kernels.Merge(ks); err != nil {
		return nil, err
	}
	binary := newBinaries(o.Compiler, o.Device.Info())
	byName := map[string]*Implementation{}
	var all []impl.Implementation
	for _, k := range ks {
		i := byName[k.Implementation]
		if i == nil {
			i = &Implementation{name: k.Implementation, options: o, binary: binary}
			byName[k.Implementation] = i
			all = append(all, i)
		}
		i.kernels = append(i.kernels, k)
	}
	return all, nil
}

// Name returns the name in the kernels' descriptions.
func (i *Implementation) Name() string { return i.name }

// LaunchPath returns "driver".
func (i *Implementation) LaunchPath() string { return "driver" }

// Device returns the device's name in records.
func (i *Implementation) Device() string { return i.options.DeviceID }

// State reads the condition of the device.
func (i *Implementation) State() (gpu.State, error) { return i.options.Device.State() }

// Kernel returns the kernel that computes c, or an *unavailable.Error.
func (i *Implementation) Kernel(c contract.Contract) (kernels.Kernel, error) {
	for _, k := range i.kernels {
		if k.Supports(c) {
			return k, nil
		}
	}
	return kernels.Kernel{}, unavailable.New(fmt.Sprintf("%s %s", i.name, c.Name()),
		fmt.Sprintf("%s has no kernel for %s in %s", i.name, c.Name(), c.Precision()), "")
}

// Open prepares the operation with the default values of the tunables. On a device
// that counts instead of timing, the operation is an impl.Counting.
func (i *Implementation) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	k, err := i.Kernel(c)
	if err != nil {
		return nil, err
	}
	return i.OpenVariant(c, d, in, k.Defaults())
}

// OpenVariant is Open with the given values of the tunables. Dims and inputs are
// checked before anything is allocated on the device; on an error everything
// that was allocated is freed.
func (i *Implementation) OpenVariant(c contract.Contract, d contract.Dims, in contract.Tensors, v kernels.Values) (impl.Operation, error) {
	k, err := i.Kernel(c)
	if err != nil {
		return nil, err
	}
	if err := c.CheckDims(d); err != nil {
		return nil, err
	}
	if err := c.CheckInputs(d, in); err != nil {
		return nil, err
	}
	plan, err := k.Plan(d, v)
	if err != nil {
		return nil, err
	}
	if err := fitsDevice(k, plan, i.options.Device.Info()); err != nil {
		return nil, err
	}
	b, err := i.binary.of(k, v)
	if err != nil {
		return nil, err
	}
	o := &operation{name: k.Name(), options: i.options, contract: c, dims: d}
	if err := o.prepare(k, v, plan, b, in); err != nil {
		_ = o.Close() // the first error says what is wrong
		return nil, fmt.Errorf("%s: %w", k.Name(), err)
	}
	return o.opened(), nil
}

// fitsDevice refuses blocks that this device cannot run, before it is touched.
// A limit of 0 is unknown.
func fitsDevice(k kernels.Kernel, p kernels.Plan, info gpu.Info) error {
	for _, l := range p.Launches {
		b := l.Config.Block
		threads, shared := int(b[0]*b[1]*b[2]), int(l.Config.DynamicShared)
		if limit := info.MaxThreadsPerBlock; limit > 0 && threads > limit {
			return unavailable.Newf(k.Name(), "%s has blocks of %d threads, %s runs %d", l.Entry, threads, info.Name, limit)
		}
		if limit := info.SharedPerBlockOptin; limit > 0 && shared > limit {
			return unavailable.Newf(k.Name(), "%s needs %d bytes of shared memory per block, %s has %d", l.Entry, shared, info.Name, limit)
		}
	}
	return nil
}
