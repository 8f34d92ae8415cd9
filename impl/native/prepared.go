package native

import (
	"fmt"

	"mage/contract"
	"mage/impl"
	"mage/kernels"
)

// Prepared is a kernel that is ready to launch at one shape: its code and what to
// do with it. It can come from a compiler that this package does not know, and be
// launched by another launcher than this package's: the binary is the same.
type Prepared struct {
	Name         string // for messages: "cuda/first gelu"
	SourceSHA256 string
	// Image is a cubin or PTX, which Kind says; SHA256 is its hash in hex.
	Image        []byte
	SHA256, Kind string
	Compiler     string
	CompileMS    float64
	Values       kernels.Values // of the tunables
	Plan         kernels.Plan
}

// Prepare returns what Open would load and launch.
func (i *Implementation) Prepare(c contract.Contract, d contract.Dims) (Prepared, error) {
	k, err := i.Kernel(c)
	if err != nil {
		return Prepared{}, err
	}
	if err := c.CheckDims(d); err != nil {
		return Prepared{}, err
	}
	v := k.Defaults()
	plan, err := k.Plan(d, v)
	if err != nil {
		return Prepared{}, err
	}
	if err := fitsDevice(k, plan, i.options.Device.Info()); err != nil {
		return Prepared{}, err
	}
	b, err := i.binary.of(k, v)
	if err != nil {
		return Prepared{}, err
	}
	return Prepared{Name: k.Name(), SourceSHA256: k.SourceSHA256, Image: b.image, SHA256: b.sha256, Kind: b.kind,
		Compiler: b.compiler, CompileMS: b.compileMS, Values: v, Plan: plan}, nil
}

// OpenPrepared opens an operation of a kernel that was prepared elsewhere. Dims
// and inputs are checked before anything is allocated on the device.
func OpenPrepared(o Options, c contract.Contract, d contract.Dims, in contract.Tensors, p Prepared) (impl.Operation, error) {
	if err := c.CheckDims(d); err != nil {
		return nil, err
	}
	if err := c.CheckInputs(d, in); err != nil {
		return nil, err
	}
	op := &operation{name: p.Name, options: o, contract: c, dims: d}
	k := kernels.Kernel{SourceName: p.Name, SourceSHA256: p.SourceSHA256}
	b := binary{image: p.Image, sha256: p.SHA256, kind: p.Kind, compiler: p.Compiler, compileMS: p.CompileMS}
	if err := op.prepare(k, p.Values, p.Plan, b, in); err != nil {
		_ = op.Close() // the first error says what is wrong
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return op.opened(), nil
}
