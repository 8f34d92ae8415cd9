package cpu

import (
	"errors"
	"runtime"
	"strings"

	"mage/contract"
	"mage/impl"
	"mage/timing"
)

// operation is an Implementation opened for one case.
type operation struct {
	impl     *Implementation
	contract contract.Contract
	buffers  *buffers
	pool     *pool
	run      func()
	closed   bool
}

var errClosed = errors.New("the operation is closed")

// SetInputs overwrites the inputs in place.
func (o *operation) SetInputs(in contract.Tensors) error {
	if o.closed {
		return errClosed
	}
	if err := o.contract.CheckInputs(o.buffers.dims, in); err != nil {
		return err
	}
	o.buffers.load(in)
	return nil
}

// Poison fills the whole output allocation, guard zones included.
func (o *operation) Poison(value byte) error {
	if o.closed {
		return errClosed
	}
	o.buffers.poison(value)
	return nil
}

// Run performs the operation once.
func (o *operation) Run() error {
	if o.closed {
		return errClosed
	}
	o.run()
	return nil
}

// Output copies the whole output allocation, guard zones included.
func (o *operation) Output() ([]byte, error) {
	if o.closed {
		return nil, errClosed
	}
	return o.buffers.output(), nil
}

// Inputs copies the inputs as they are now.
func (o *operation) Inputs() (contract.Tensors, error) {
	if o.closed {
		return nil, errClosed
	}
	return o.buffers.inputs(), nil
}

// Measure has the host's clock time Run.
func (o *operation) Measure(req timing.Request) (timing.Reading, error) {
	return o.impl.host.Measure(o.Run, req)
}

// Identity names the source of this package, the running executable and the Go
// that compiled it. All CPU arms share one executable: Entry tells them apart.
func (o *operation) Identity() impl.Identity {
	id := impl.Identity{
		SourceSHA256: sourceSHA256(),
		Compiler:     runtime.Version(),
		Entry:        strings.TrimPrefix(o.impl.name, "cpu/") + "/" + o.contract.Name(),
		Params:       map[string]float64{"workers": float64(o.impl.workers)},
	}
	if hash, err := o.impl.self.sha256(); err == nil {
		id.BinarySHA256, id.BinaryKind = hash, "executable"
	}
	return id
}

// Close stops the workers and lets the buffers go. It may be called twice.
func (o *operation) Close() error {
	if !o.closed {
		o.closed = true
		o.pool.close()
		o.buffers, o.run = nil, nil
	}
	return nil
}
