package python

import (
	"fmt"
	"maps"

	"mage/contract"
	"mage/gpu"
	"mage/impl"
)

// Names lists the implementations that a worker may offer, in the order that
// tables show them.
func Names() []string {
	return []string{"torch/eager", "torch/eager-out", "torch/eager-csr", "torch/compile", "torch/compile-max", "triton/fixed", "triton/autotuned"}
}

// launchPaths says how each implementation submits its work.
func launchPath(name string) string {
	switch name {
	case "torch/compile", "torch/compile-max":
		return "inductor"
	case "triton/fixed", "triton/autotuned":
		return "triton"
	}
	return "torch"
}

// Implementation is one name on the worker's device.
type Implementation struct {
	worker *Worker
	name   string
	state  func() (gpu.State, error)
}

// Implementations returns every implementation of Names. state reads the
// condition of the device they run on; nil reads nothing.
func (w *Worker) Implementations(state func() (gpu.State, error)) []impl.Implementation {
	var all []impl.Implementation
	for _, name := range Names() {
		all = append(all, w.implementation(name, state))
	}
	return all
}

func (w *Worker) implementation(name string, state func() (gpu.State, error)) *Implementation {
	if state == nil {
		state = func() (gpu.State, error) { return gpu.State{}, nil }
	}
	return &Implementation{w, name, state}
}

// Name returns one of Names.
func (i *Implementation) Name() string { return i.name }

// LaunchPath returns "torch", "inductor" or "triton".
func (i *Implementation) LaunchPath() string { return launchPath(i.name) }

// Device returns the worker's device.
func (i *Implementation) Device() string { return i.worker.options.Device }

// State reads the condition of the device.
func (i *Implementation) State() (gpu.State, error) { return i.state() }

// Open prepares the operation in the worker, which compiles and tunes what needs
// it. It returns an *unavailable.Error for what this Python, or this
// implementation, lacks.
func (i *Implementation) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	if err := c.CheckDims(d); err != nil {
		return nil, err
	}
	o := &operation{worker: i.worker, contract: c, dims: d, arrays: arraysOf(c, d), name: i.name + " " + c.Name(),
		request: openRequest(i.name, i.worker.options.Device, c, d)}
	if err := o.SetInputs(in); err != nil {
		return nil, err
	}
	key := choiceOf(i.name, c, d)
	before, known := i.worker.choices[key]
	if known && i.name == autotuned {
		o.request.Params = before.Params
	}
	if err := o.open(); err != nil {
		return nil, fmt.Errorf("opening %s: %w", o.name, err)
	}
	switch {
	case i.name != autotuned && i.LaunchPath() != "inductor":
	case !known:
		i.worker.choices[key] = o.identity
	case i.name == autotuned:
		maps.Copy(o.identity.Notes, before.Notes) // how it was chosen
	case o.identity.BinarySHA256 == before.BinarySHA256:
		// It came from the caches of this run: it took what it took the first time.
		o.identity.CompileMS = before.CompileMS
	}
	return o, nil
}
