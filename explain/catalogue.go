package explain

import (
	"fmt"
	"slices"

	"mage/contract"
	"mage/impl"
	"mage/impl/native"
	"mage/kernels"
	"mage/kernels/triton"
	"mage/unavailable"
)

// tritonFixed is the arm whose PTX Triton compiled ahead.
const tritonFixed = "triton/fixed"

// Catalogue holds the kernels that exist.
type Catalogue struct {
	Kernels []kernels.Kernel
	// Triton lists what Triton compiled, for some shapes.
	Triton triton.Index
}

// names lists the implementations.
func (k Catalogue) names() (all []string) {
	for _, k := range k.Kernels {
		if !slices.Contains(all, k.Implementation) {
			all = append(all, k.Implementation)
		}
	}
	if len(k.Triton.Kernels) > 0 {
		all = append(all, tritonFixed)
	}
	return all
}

// Computes reports whether an arm has a kernel for the contract.
func (k Catalogue) Computes(a Arm, c contract.Contract) bool {
	if a.Family == tritonFixed {
		return slices.ContainsFunc(k.Triton.Kernels, func(k triton.Kernel) bool { return k.Contract == c.Name() })
	}
	return slices.ContainsFunc(k.Kernels, func(k kernels.Kernel) bool { return k.Implementation == a.Family && k.Supports(c) })
}

// Code is the text that an arm's instructions come from.
type Code struct {
	SourceName, Source string
	PTXName            string
}

// open makes the arm's operation on a device.
func (k Catalogue) open(a Arm, c Case, in contract.Tensors, o native.Options) (impl.Operation, Code, error) {
	if a.Family == tritonFixed {
		return k.openTriton(a, c, in, o)
	}
	kernel, values, err := k.kernel(a, c.Contract)
	if err != nil {
		return nil, Code{}, err
	}
	if o.Compiler != nil && kernel.Language() == kernels.CUDA {
		o.Compiler = withLines{o.Compiler}
	}
	all, err := native.New(o, []kernels.Kernel{kernel})
	if err != nil {
		return nil, Code{}, err
	}
	op, err := all[0].(*native.Implementation).OpenVariant(c.Contract, c.Dims, in, values)
	return op, Code{kernel.SourceName, kernel.Source, kernel.PTXName()}, err
}

// kernel returns the arm's kernel for a contract and the values of its tunables.
func (k Catalogue) kernel(a Arm, c contract.Contract) (kernels.Kernel, kernels.Values, error) {
	for _, k := range k.Kernels {
		if k.Implementation != a.Family || !k.Supports(c) {
			continue
		}
		v := k.Defaults()
		for name, n := range a.Values {
			v[name] = n
		}
		if err := k.CheckValues(v); err != nil {
			return k, nil, &ArmError{a.Name, err.Error()}
		}
		return k, v, nil
	}
	return kernels.Kernel{}, nil, &ArmError{a.Name, fmt.Sprintf("%s has no kernel for %s in %s", a.Family, c.Name(), c.Precision())}
}

func (k Catalogue) openTriton(a Arm, c Case, in contract.Tensors, o native.Options) (impl.Operation, Code, error) {
	if len(a.Values) > 0 {
		return nil, Code{}, &ArmError{a.Name, "its tunables were fixed when it was compiled"}
	}
	launch, kernel, ok := k.Triton.Find(c.Contract.Name(), c.Dims)
	if !ok || c.Contract.Precision() != contract.FP32 {
		return nil, Code{}, unavailable.New(a.Name+" "+c.String(), "Triton compiled no launch for this shape ahead",
			"leave --shape out, or use small, tails or default")
	}
	text, err := triton.PTX(kernel)
	if err != nil {
		return nil, Code{}, err
	}
	buffers := []string{c.Contract.Output(c.Dims).Name}
	for _, s := range c.Contract.Inputs(c.Dims) {
		buffers = append(buffers, s.Name)
	}
	op, err := native.OpenPrepared(o, c.Contract, c.Dims, in, native.Prepared{Name: kernel.File, Image: text, Kind: "ptx",
		Compiler: fmt.Sprintf("%s, %s", kernel.File, k.Triton.Compiler), Plan: launch.Plan(kernel, buffers...)})
	return op, Code{PTXName: c.Contract.Name() + ".ptx"}, err
}
