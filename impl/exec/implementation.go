package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mage/contract"
	"mage/gpu"
	"mage/impl"
	"mage/unavailable"
)

// Options is where programs run.
type Options struct {
	// DeviceID is the device's name in records: "cuda:0".
	DeviceID string
	// Visible becomes CUDA_VISIBLE_DEVICES of every program, so that its first
	// device is this one: an ordinal or a UUID. Empty leaves the variable alone.
	Visible string
	// Env is added to the environment of every program, as "NAME=value".
	Env []string
	// State reads the condition of the device; nil when nothing can.
	State func() (gpu.State, error)
	// Deadline bounds one run of a program; 0 is two minutes.
	Deadline time.Duration
	// TempDir is where input directories are made; empty is the system's own.
	TempDir string
}

// Implementation is one declared program on one device.
type Implementation struct {
	declaration Declaration
	options     Options
	ctx         context.Context
	executable  *executable // after the first Open
}

// New returns one implementation per declaration. ctx ends what they run; nothing
// is built before the first Open.
func New(ctx context.Context, o Options, declarations []Declaration) []impl.Implementation {
	if o.Deadline == 0 {
		o.Deadline = 2 * time.Minute
	}
	var all []impl.Implementation
	for _, d := range declarations {
		all = append(all, &Implementation{declaration: d, options: o, ctx: ctx})
	}
	return all
}

// Name returns "exec/" and the declared name.
func (i *Implementation) Name() string { return "exec/" + i.declaration.Name }

// LaunchPath returns "exec".
func (i *Implementation) LaunchPath() string { return "exec" }

// Device returns the device's name in records.
func (i *Implementation) Device() string { return i.options.DeviceID }

// State reads the condition of the device.
func (i *Implementation) State() (gpu.State, error) {
	if i.options.State == nil {
		return gpu.State{}, unavailable.New("state of "+i.options.DeviceID, "it is used by other processes only", "")
	}
	return i.options.State()
}

// Open builds the program, the first time, and writes an input directory for the
// case, which Close removes. The program is not run yet.
func (i *Implementation) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	if !i.declaration.computes(c) {
		return nil, unavailable.Newf(i.Name()+" "+c.Name(), "%s does not declare %s in %s", i.Name(), c.Name(), c.Precision())
	}
	if err := c.CheckDims(d); err != nil {
		return nil, err
	}
	if err := c.CheckInputs(d, in); err != nil {
		return nil, err
	}
	if i.executable == nil {
		e, err := i.declaration.prepare(i.ctx)
		if err != nil {
			return nil, err
		}
		i.executable = &e
	}
	dir, err := os.MkdirTemp(i.options.TempDir, "mage-exec-*")
	if err != nil {
		return nil, fmt.Errorf("opening %s %s: %w", i.Name(), c.Name(), err)
	}
	o := &operation{owner: i, contract: c, dims: d, dir: dir, warmup: gateWarmup}
	if err := errors.Join(o.SetInputs(in), o.Poison(0)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s %s: %w", i.Name(), c.Name(), err), o.Close())
	}
	return o, nil
}

func (i *Implementation) env() []string {
	env := append(os.Environ(), i.options.Env...)
	if i.options.Visible != "" {
		env = append(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES="+i.options.Visible)
	}
	return env
}
