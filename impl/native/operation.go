package native

import (
	"errors"
	"fmt"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/impl"
	"mage/tensor"
	"mage/timing"
	"mage/unavailable"
)

// operation is one kernel opened for one case: buffers, a module and the bound
// steps. Its output allocation is guard + output + guard.
type operation struct {
	name     string
	options  Options
	contract contract.Contract
	dims     contract.Dims

	inputs  map[string]gpu.Ptr
	out     gpu.Ptr // of the whole allocation
	outSize int64   // of the whole allocation
	owned   []gpu.Ptr
	module  gpu.Module
	steps   []step
	// queue is submit as a value made once: a method value made per measurement
	// would be an allocation, and be made inside somebody's timed region.
	queue    func() error
	identity impl.Identity
}

// step is one thing that an operation queues: a fill, or a launch.
type step struct {
	launch gpu.Launch // nil for a fill
	zero   gpu.Ptr
	bytes  int64
}

// submit queues the operation. It allocates nothing and waits for nothing.
func (o *operation) submit() error {
	for i := range o.steps {
		s := &o.steps[i]
		var err error
		if s.launch != nil {
			err = s.launch.Submit(o.options.Stream)
		} else {
			err = o.options.Stream.FillAsync(s.zero, 0, s.bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Run performs the operation once and waits for it.
func (o *operation) Run() error {
	if err := o.submit(); err != nil {
		return fmt.Errorf("running %s: %w", o.name, err)
	}
	if err := o.options.Stream.Synchronize(); err != nil {
		return fmt.Errorf("running %s: %w", o.name, err)
	}
	return nil
}

// SetInputs checks the inputs against the contract and uploads them.
func (o *operation) SetInputs(in contract.Tensors) error {
	if err := o.contract.CheckInputs(o.dims, in); err != nil {
		return err
	}
	for _, s := range o.contract.Inputs(o.dims) {
		if s.Bytes() == 0 {
			continue
		}
		if err := o.options.Device.Upload(o.inputs[s.Name], in[s.Name].Data); err != nil {
			return fmt.Errorf("uploading input %s of %s: %w", s.Name, o.name, err)
		}
	}
	return nil
}

// Inputs downloads the inputs.
func (o *operation) Inputs() (contract.Tensors, error) {
	in := contract.Tensors{}
	for _, s := range o.contract.Inputs(o.dims) {
		t := tensor.New(s)
		if s.Bytes() > 0 {
			if err := o.options.Device.Download(t.Data, o.inputs[s.Name]); err != nil {
				return nil, fmt.Errorf("downloading input %s of %s: %w", s.Name, o.name, err)
			}
		}
		in[s.Name] = t
	}
	return in, nil
}

// doubting is a device that tells when a kernel reads what nobody wrote.
type doubting interface {
	MarkUnwritten(p gpu.Ptr, bytes int64) error
}

// Poison fills the output and its guard zones. To a device that can tell, nobody wrote
// it: a kernel that reads it is found out, even if the result does not show it.
func (o *operation) Poison(value byte) error {
	if err := o.options.Device.Fill(o.out, value, o.outSize); err != nil {
		return err
	}
	if d, ok := o.options.Device.(doubting); ok {
		return d.MarkUnwritten(o.out, o.outSize)
	}
	return nil
}

// Output downloads the output and its guard zones.
func (o *operation) Output() ([]byte, error) {
	all := make([]byte, o.outSize)
	if err := o.options.Device.Download(all, o.out); err != nil {
		return nil, fmt.Errorf("downloading the output of %s: %w", o.name, err)
	}
	return all, nil
}

// Measure hands the operation to the timer.
func (o *operation) Measure(req timing.Request) (timing.Reading, error) {
	if o.options.Timer == nil {
		return timing.Reading{}, unavailable.New("timing of "+o.name, "its device was opened without a timer", "")
	}
	r, err := o.options.Timer.Measure(o.queue, req)
	if err != nil {
		return r, fmt.Errorf("%s: %w", o.name, err)
	}
	return r, nil
}

func (o *operation) Identity() impl.Identity { return o.identity }

// Close frees everything; it is safe to call twice, and after a device error.
func (o *operation) Close() error {
	var errs []error
	if o.module != nil {
		errs = append(errs, o.module.Unload())
		o.module = nil
	}
	for _, p := range o.owned {
		errs = append(errs, o.options.Device.Free(p))
	}
	o.owned, o.steps = nil, nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing %s: %w", o.name, err)
	}
	return nil
}

// outputBytes is the size of the output allocation.
func outputBytes(c contract.Contract, d contract.Dims) int64 {
	return int64(c.Output(d).Bytes()) + 2*gate.GuardBytes
}
