package python

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"mage/contract"
	"mage/gpu"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
	"mage/kernels"
)

// Kernels compiles kernels of one name for the device: *native.Implementation is
// one, and so is what Worker.Triton returns.
type Kernels interface {
	Name() string
	Prepare(contract.Contract, contract.Dims) (native.Prepared, error)
}

// Triton returns triton/fixed as kernels that other launchers can run on a device.
func (w *Worker) Triton(info gpu.Info) Kernels {
	return exporter{"triton/fixed", func(c contract.Contract, d contract.Dims) (Exported, error) {
		return w.exportFor(info, c, d, nil)
	}}
}

// TritonAutotuned is Triton for triton/autotuned. One configuration is chosen per
// contract and shape, by whichever launch path comes first, for all of them.
func (w *Worker) TritonAutotuned(info gpu.Info) Kernels {
	return exporter{autotuned, func(c contract.Contract, d contract.Dims) (Exported, error) {
		chosen, err := w.tuned(c, d)
		if err != nil {
			return Exported{}, err
		}
		return w.exportFor(info, c, d, chosen)
	}}
}

// Compiled returns the kernels of "torch/compile" or "torch/compile-max" for
// other launchers. Where an operation is anything but one kernel that Inductor
// generated, preparing it returns an *unavailable.Error.
func (w *Worker) Compiled(name string) Kernels {
	return exporter{name, func(c contract.Contract, d contract.Dims) (Exported, error) {
		return w.exportCompiled(name, c, d)
	}}
}

const autotuned = "triton/autotuned"

// exporter is kernels that the worker compiles and hands out.
type exporter struct {
	name   string
	export func(contract.Contract, contract.Dims) (Exported, error)
}

func (e exporter) Name() string { return e.name }

// exportFor compiles triton/fixed with the tunables that params overrides.
func (w *Worker) exportFor(info gpu.Info, c contract.Contract, d contract.Dims, params map[string]float64) (Exported, error) {
	arch, err := strconv.Atoi(strings.ReplaceAll(info.ComputeCapability, ".", ""))
	if err != nil {
		return Exported{}, fmt.Errorf("triton/fixed %s: compute capability %q is not a version", c.Name(), info.ComputeCapability)
	}
	return w.ExportTriton(c, d, arch, params)
}

// openDefault opens an implementation of the worker on inputs of the default
// distribution, to learn what it compiles.
func (w *Worker) openDefault(name string, c contract.Contract, d contract.Dims) (impl.Operation, error) {
	set, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: input.DefaultDistribution(c.Name()), Seed: input.DefaultSeed})
	if err != nil {
		return nil, err
	}
	return w.implementation(name, nil).Open(c, d, set.Tensors)
}

// tuned returns the tunables that were chosen for a case; it has them chosen
// when nobody has yet.
func (w *Worker) tuned(c contract.Contract, d contract.Dims) (map[string]float64, error) {
	if id, ok := w.choices[choiceOf(autotuned, c, d)]; ok {
		return id.Params, nil
	}
	op, err := w.openDefault(autotuned, c, d)
	if err != nil {
		return nil, err
	}
	return op.Identity().Params, op.Close()
}

func choiceOf(name string, c contract.Contract, d contract.Dims) string {
	return name + " " + c.Name() + " " + string(c.Precision()) + " " + d.Format(c.DimNames())
}

// Prepare has the worker compile the kernel for this shape.
func (e exporter) Prepare(c contract.Contract, d contract.Dims) (native.Prepared, error) {
	name := e.name + " " + c.Name()
	x, err := e.export(c, d)
	if err != nil {
		return native.Prepared{}, err
	}
	p := native.Prepared{Name: name, SourceSHA256: x.SourceSHA256, Image: x.Cubin, SHA256: x.SHA256, Kind: "cubin",
		Compiler: x.Compiler, CompileMS: x.CompileMS, Values: kernels.Values{}}
	for tunable, v := range x.Params {
		p.Values[tunable] = int(v)
	}
	launch := kernels.Launch{Entry: x.Entry, Config: gpu.Config{Grid: x.Grid, Block: x.Block, DynamicShared: x.Shared}}
	for _, a := range x.Arguments {
		param := kernels.Param{Name: a.Name}
		if a.Buffer {
			param.Buffer = a.Name
		} else if param.Scalar, err = a.scalar(); err != nil {
			return native.Prepared{}, fmt.Errorf("%s: %w", name, err)
		}
		launch.Params = append(launch.Params, param)
	}
	p.Plan.Launches = []kernels.Launch{launch}
	return p, nil
}

// Driver returns k launched through the driver by this process: the launch path
// "driver", for kernels that another compiler made.
func Driver(o native.Options, k Kernels) impl.Implementation { return driver{o, k} }

type driver struct {
	options native.Options
	kernels Kernels
}

func (i driver) Name() string              { return i.kernels.Name() }
func (i driver) LaunchPath() string        { return "driver" }
func (i driver) Device() string            { return i.options.DeviceID }
func (i driver) State() (gpu.State, error) { return i.options.Device.State() }

func (i driver) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	p, err := i.kernels.Prepare(c, d)
	if err != nil {
		return nil, err
	}
	return native.OpenPrepared(i.options, c, d, in, p)
}

// CUDAPython returns k launched by the worker through cuda.bindings, or through
// the driver with ctypes where that package is missing: the launch path
// "cuda-python". state reads the condition of the worker's device; nil reads
// nothing.
func (w *Worker) CUDAPython(k Kernels, state func() (gpu.State, error)) impl.Implementation {
	return &launcher{*w.implementation(k.Name(), state), k}
}

// launcher is an Implementation whose kernels come from elsewhere.
type launcher struct {
	Implementation
	kernels Kernels
}

func (i *launcher) LaunchPath() string { return "cuda-python" }

func (i *launcher) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	p, err := i.kernels.Prepare(c, d)
	if err != nil {
		return nil, err
	}
	if err := c.CheckDims(d); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(i.worker.dir, "image-")
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", p.Name, err)
	}
	// PTX is text that ends with a zero byte for the driver; a cubin has its own
	// length.
	_, err = file.Write(append(append([]byte{}, p.Image...), 0))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", p.Name, err)
	}
	o := &operation{worker: i.worker, contract: c, dims: d, arrays: arraysOf(c, d), name: p.Name + " through cuda-python",
		request: openRequest("cubin/"+i.name, i.worker.options.Device, c, d), files: []string{file.Name()}}
	o.request.Cubin = launchesOf(p, file.Name())
	o.known = impl.Identity{SourceSHA256: p.SourceSHA256, BinarySHA256: p.SHA256, BinaryKind: p.Kind,
		Compiler: p.Compiler, CompileMS: p.CompileMS}
	if err := o.SetInputs(in); err != nil {
		return nil, err
	}
	if err := o.open(); err != nil {
		_ = o.Close()
		return nil, fmt.Errorf("opening %s: %w", o.name, err)
	}
	return o, nil
}

// launchesOf writes a plan down for the worker.
func launchesOf(p native.Prepared, path string) *cubinLaunch {
	out := &cubinLaunch{Path: path, SHA256: p.SHA256, Params: map[string]float64{}}
	for name, v := range p.Values {
		out.Params[name] = float64(v)
	}
	for _, s := range p.Plan.Scratch {
		out.Scratch = append(out.Scratch, cubinScratch(s))
	}
	for _, l := range p.Plan.Launches {
		step := cubinStep{Entry: l.Entry, Zero: l.Zero, Empty: l.Empty,
			Grid: l.Config.Grid, Block: l.Config.Block, Shared: l.Config.DynamicShared}
		for _, a := range l.Params {
			if a.Buffer != "" {
				step.Args = append(step.Args, cubinArg{Buffer: a.Buffer, Size: 8})
			} else {
				step.Args = append(step.Args, cubinArg{Bits: strconv.FormatUint(a.Scalar.Bits, 10), Size: a.Scalar.Size})
			}
		}
		out.Launches = append(out.Launches, step)
	}
	return out
}
