package agreement

import (
	"bytes"
	"fmt"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
	"mage/kernels"
	"mage/kernels/triton"
)

// Case is one launch of one kernel with known inputs.
type Case struct {
	// Name says which, in three words and more: "cuda/first gelu R=3 D=257 normal",
	// "probe load_shared_8 stride-4".
	Name string
	// Kernel is the first two words: "cuda/first gelu", "probe load_shared_8".
	Kernel string
	// Set is "small", "tails", "edge", "medium", "default" or "probe".
	Set string
	// Approximate lists the instructions whose result the PTX manual only bounds:
	// outputs of a kernel without any must agree bit for bit.
	Approximate []string
	// LoadsMatrices says that the kernel has ldmatrix, which Nsight Compute leaves out
	// of what it counts of loads from shared memory by instruction.
	LoadsMatrices bool
	open          func(gpu.Device, gpu.Stream) (opened, error)
}

// subject is an opened case.
type subject interface {
	Poison(byte) error
	Run() error
	Output() ([]byte, error)
	Close() error
}

// opened is a case, ready to be launched.
type opened struct {
	subject
	entry       string
	grid, block [3]uint32
	guard       int // bytes around the output
}

// KernelCases returns the cases of kernels whose compiled code lies beside their
// sources: shapes of the given families, and the edge cases for "edge".
func KernelCases(ks []kernels.Kernel, families ...string) ([]Case, error) {
	var all []Case
	for _, family := range families {
		for _, k := range ks {
			c, err := contract.Find(k.Contract, contract.FP32)
			if err != nil {
				return nil, err
			}
			add := func(d contract.Dims, distribution string) {
				// A kernel may not take every shape: vectors need whole rows.
				if _, err := k.Plan(d, k.Defaults()); err == nil {
					all = append(all, kernelCase(k, c, d, distribution, family))
				}
			}
			if family == "edge" {
				for _, e := range contract.EdgeCases(c) {
					add(e.Dims, e.Distribution)
				}
				continue
			}
			shapes, err := contract.Shapes(c, family)
			if err != nil {
				return nil, err
			}
			for _, d := range shapes {
				add(d, input.DefaultDistribution(c.Name()))
			}
		}
	}
	return all, nil
}

func kernelCase(k kernels.Kernel, c contract.Contract, d contract.Dims, distribution, set string) Case {
	all := contractCase(k.Name(), c, d, distribution, set, func(o native.Options, in contract.Tensors) (impl.Operation, error) {
		// Without a compiler it is the committed PTX that runs, as on the simulator.
		all, err := native.New(o, []kernels.Kernel{k})
		if err != nil {
			return nil, err
		}
		return all[0].Open(c, d, in)
	})
	if k.PTX != nil {
		all.read(k.PTX.Image)
	}
	return all
}

// TritonCases returns the cases of the PTX that Triton compiled, where there is a
// launch for the shape.
func TritonCases(index triton.Index, families ...string) ([]Case, error) {
	var all []Case
	for _, family := range families {
		for _, c := range contract.All() {
			shapes, err := contract.Shapes(c, family)
			if err != nil {
				return nil, err
			}
			for _, d := range shapes {
				if l, k, ok := index.Find(c.Name(), d); ok {
					text, err := triton.PTX(k)
					if err != nil {
						return nil, err
					}
					all = append(all, tritonCase(index.Compiler, l, k, text, c, d, family))
				}
			}
		}
	}
	return all, nil
}

func tritonCase(compiler string, l triton.Launch, k triton.Kernel, text []byte, c contract.Contract, d contract.Dims, set string) Case {
	all := contractCase("triton/fixed "+c.Name(), c, d, input.DefaultDistribution(c.Name()), set, func(o native.Options, in contract.Tensors) (impl.Operation, error) {
		buffers := []string{c.Output(d).Name}
		for _, s := range c.Inputs(d) {
			buffers = append(buffers, s.Name)
		}
		return native.OpenPrepared(o, c, d, in, native.Prepared{Name: k.File, Image: text, Kind: "ptx", Compiler: compiler, Plan: l.Plan(k, buffers...)})
	})
	all.read(text)
	return all
}

// read takes from the PTX what a comparison must know of it.
func (c *Case) read(text []byte) {
	c.Approximate, c.LoadsMatrices = approximate(text), bytes.Contains(text, []byte("ldmatrix"))
}

// contractCase is a case of a contract whose operation open prepares.
func contractCase(kernel string, c contract.Contract, d contract.Dims, distribution, set string, open func(native.Options, contract.Tensors) (impl.Operation, error)) Case {
	name := fmt.Sprintf("%s %s %s", kernel, d.Format(c.DimNames()), distribution)
	return Case{Name: name, Kernel: kernel, Set: set, open: func(dev gpu.Device, s gpu.Stream) (opened, error) {
		set, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: distribution, Seed: input.DefaultSeed})
		if err != nil {
			return opened{}, err
		}
		op, err := open(native.Options{Device: dev, Stream: s}, set.Tensors)
		if err != nil {
			return opened{}, err
		}
		id := op.Identity()
		if id.Grid == nil {
			_ = op.Close()
			return opened{}, fmt.Errorf("%s: more than one launch", kernel)
		}
		return opened{subject: op, entry: id.Entry, grid: *id.Grid, block: *id.Block, guard: gate.GuardBytes}, nil
	}}
}
