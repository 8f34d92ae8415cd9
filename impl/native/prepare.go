package native

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/kernels"
	"mage/unavailable"
)

// buffer is a device buffer that launches may name.
type buffer struct {
	at    gpu.Ptr
	bytes int64
}

// prepare loads, allocates, uploads and binds. What it made until an error is
// freed by Close.
func (o *operation) prepare(k kernels.Kernel, v kernels.Values, plan kernels.Plan, b binary, in contract.Tensors) error {
	start := time.Now()
	module, err := o.options.Device.Load(b.image)
	if errors.Is(err, cuda.ErrUnsupportedPTX) || errors.Is(err, cuda.ErrNoBinaryForGPU) {
		// The machine lacks a newer driver, or an NVRTC: the kernel is not at fault.
		return unavailable.New(k.Name(), err.Error(), "")
	}
	if err != nil {
		return fmt.Errorf("loading the %s of %s: %w", b.kind, k.SourceName, err)
	}
	o.module = module
	loadMS := float64(time.Since(start)) / float64(time.Millisecond)

	buffers, err := o.allocate(plan)
	if err != nil {
		return err
	}
	if err := o.SetInputs(in); err != nil {
		return err
	}
	functions, err := o.bind(plan, buffers)
	if err != nil {
		return err
	}
	o.queue = o.submit
	return o.identify(k, v, plan, b, loadMS, functions)
}

func (o *operation) allocate(plan kernels.Plan) (map[string]buffer, error) {
	buffers := map[string]buffer{}
	o.inputs = map[string]gpu.Ptr{}
	for _, s := range o.contract.Inputs(o.dims) {
		p, err := o.alloc("buffer "+s.Name, int64(s.Bytes()), 0)
		if err != nil {
			return nil, err
		}
		o.inputs[s.Name] = p
		buffers[s.Name] = buffer{p, int64(s.Bytes())}
	}
	out := o.contract.Output(o.dims)
	o.outSize = outputBytes(o.contract, o.dims)
	p, err := o.alloc("buffer "+out.Name, o.outSize, gate.GuardBytes)
	if err != nil {
		return nil, err
	}
	o.out = p
	buffers[out.Name] = buffer{p + gate.GuardBytes, int64(out.Bytes())}
	for _, s := range plan.Scratch {
		p, err := o.alloc("scratch "+s.Name, s.Bytes, 0)
		if err != nil {
			return nil, err
		}
		buffers[s.Name] = buffer{p, s.Bytes}
	}
	return buffers, nil
}

// naming is a device that says, of a wrong access, which buffer it missed, and of
// one to a guard zone which instruction made it.
type naming interface {
	AllocNamed(name string, bytes, guard int64) (gpu.Ptr, error)
}

// alloc allocates bytes of which the first and last guard bytes are a guard zone.
func (o *operation) alloc(what string, bytes, guard int64) (gpu.Ptr, error) {
	var p gpu.Ptr
	var err error
	if d, ok := o.options.Device.(naming); ok {
		p, err = d.AllocNamed(what, bytes, guard)
	} else {
		p, err = o.options.Device.Alloc(bytes)
	}
	if err != nil {
		return 0, fmt.Errorf("allocating %s: %w", what, err)
	}
	o.owned = append(o.owned, p)
	return p, nil
}

// bind makes the steps and returns the function of each launch of the plan.
func (o *operation) bind(plan kernels.Plan, buffers map[string]buffer) ([]gpu.Function, error) {
	var functions []gpu.Function
	for _, l := range plan.Launches {
		for _, name := range l.Zero {
			if b := buffers[name]; b.bytes > 0 {
				o.steps = append(o.steps, step{zero: b.at, bytes: b.bytes})
			}
		}
		f, err := o.module.Function(l.Entry)
		if err != nil {
			return nil, fmt.Errorf("finding entry %s: %w", l.Entry, err)
		}
		functions = append(functions, f)
		if l.Empty {
			continue
		}
		args := make([]gpu.Arg, 0, len(l.Params))
		for _, p := range l.Params {
			if p.Buffer != "" {
				args = append(args, gpu.Pointer(buffers[p.Buffer].at))
			} else {
				args = append(args, p.Scalar)
			}
		}
		bound, err := f.Bind(l.Config, args...)
		if err != nil {
			return nil, fmt.Errorf("binding %s: %w", l.Entry, err)
		}
		o.steps = append(o.steps, step{launch: bound})
	}
	return functions, nil
}

// identify fills the identity. Grid, block and resources are of one launch: an
// operation of several has none of its own, and its entries joined by "+".
// Spills are summed, and absent when the compiler did not report every entry.
func (o *operation) identify(k kernels.Kernel, v kernels.Values, plan kernels.Plan, b binary, loadMS float64, functions []gpu.Function) error {
	o.identity = impl.Identity{
		SourceSHA256: k.SourceSHA256,
		BinarySHA256: b.sha256,
		BinaryKind:   b.kind,
		Compiler:     b.compiler,
		CompileMS:    b.compileMS,
		LoadMS:       loadMS,
	}
	if len(v) > 0 {
		o.identity.Params = map[string]float64{}
		for name, value := range v {
			o.identity.Params[name] = float64(value)
		}
	}
	var entries []string
	loads, stores, reported := 0, 0, true
	for _, l := range plan.Launches {
		entries = append(entries, l.Entry)
		r, ok := b.resources[l.Entry]
		reported = reported && ok
		loads, stores = loads+r.SpillLoads, stores+r.SpillStores
	}
	o.identity.Entry = strings.Join(entries, "+")
	if reported {
		o.identity.SpillLoad, o.identity.SpillStor = &loads, &stores
	}
	if len(plan.Launches) == 1 {
		c := plan.Launches[0].Config
		o.identity.Grid, o.identity.Block, o.identity.Shared = &c.Grid, &c.Block, int(c.DynamicShared)
		a, err := functions[0].Attributes()
		if err != nil {
			return fmt.Errorf("reading the resources of %s: %w", entries[0], err)
		}
		o.identity.Resources = &a
	}
	return nil
}
