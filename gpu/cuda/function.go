package cuda

import (
	"fmt"

	"mage/gpu"
	"mage/unavailable"
)

// Function attributes (cuda.h, enum CUfunction_attribute).
const (
	funcMaxThreadsPerBlock = 0
	funcSharedBytes        = 1
	funcConstBytes         = 2
	funcLocalBytes         = 3
	funcRegisters          = 4
	funcPTXVersion         = 5
	funcBinaryVersion      = 6
	funcMaxDynamicShared   = 8
)

// sharedWithoutOptin is the dynamic plus static shared memory per block that
// every function may use; more has to be asked for (CUDA C++ Programming Guide,
// "Shared Memory" of each compute capability from 7.0).
const sharedWithoutOptin = 48 << 10

// function is a kernel entry point.
type function struct {
	module *module
	handle uintptr
	name   string
	// maxDynamic is the dynamic shared memory raised to so far. Launches bound
	// earlier rely on it, so it only grows.
	maxDynamic uint32
}

func (f *function) Name() string { return f.name }

// Attributes reads the resources of the compiled function.
func (f *function) Attributes() (gpu.Attributes, error) {
	var a gpu.Attributes
	if err := f.module.usable(); err != nil {
		return a, err
	}
	for _, q := range []struct {
		id  int32
		out *int
	}{
		{funcRegisters, &a.Registers},
		{funcSharedBytes, &a.StaticSharedBytes},
		{funcLocalBytes, &a.LocalBytes},
		{funcConstBytes, &a.ConstBytes},
		{funcMaxThreadsPerBlock, &a.MaxThreadsPerBlock},
		{funcPTXVersion, &a.PTXVersion},
		{funcBinaryVersion, &a.BinaryVersion},
	} {
		v, err := f.attribute(q.id)
		if err != nil {
			return gpu.Attributes{}, err
		}
		*q.out = v
	}
	return a, nil
}

func (f *function) attribute(id int32) (int, error) {
	d := f.module.device
	var v int32
	if err := d.check("cuFuncGetAttribute", d.api.cuFuncGetAttribute(&v, id, f.handle)); err != nil {
		return 0, fmt.Errorf("function %s, attribute %d: %w", f.name, id, err)
	}
	return int(v), nil
}

// allowShared raises the dynamic shared-memory limit when the function needs it.
func (f *function) allowShared(dynamic uint32) error {
	if dynamic <= f.maxDynamic {
		return nil
	}
	static, err := f.attribute(funcSharedBytes)
	if err != nil {
		return err
	}
	total := int64(static) + int64(dynamic)
	if total <= sharedWithoutOptin {
		return nil
	}
	d := f.module.device
	if limit := int64(d.info.SharedPerBlockOptin); total > limit {
		return unavailable.New(fmt.Sprintf("%d bytes of shared memory per block for %s", total, f.name),
			fmt.Sprintf("%s has %d", d.info.Name, limit), "use a smaller tile")
	}
	code := d.api.cuFuncSetAttribute(f.handle, funcMaxDynamicShared, int32(dynamic))
	if err := d.check("cuFuncSetAttribute", code); err != nil {
		return fmt.Errorf("function %s: allow %d bytes of dynamic shared memory: %w", f.name, dynamic, err)
	}
	f.maxDynamic = dynamic
	return nil
}

// checkArgs compares the arguments with the parameters that the compiled function
// declares, where the driver can list them (CUDA 12.4). The driver itself would
// read past the end of a list that is too short.
func (f *function) checkArgs(args []gpu.Arg) error {
	for i, a := range args {
		if a.Size != 4 && a.Size != 8 {
			return fmt.Errorf("argument %d of %s has %d bytes: 4 or 8 are possible", i, f.name, a.Size)
		}
	}
	n, known := f.params()
	switch {
	case known && len(args) > n:
		return fmt.Errorf("%s takes %d arguments, not %d", f.name, n, len(args))
	case known && len(args) < n:
		return fmt.Errorf("%s takes more than the %d arguments given", f.name, len(args))
	case f.module.device.api.cuFuncGetParamInfo == nil:
		return nil
	}
	for i, a := range args {
		size, ok := f.paramSize(i)
		if !ok {
			return fmt.Errorf("%s takes %d arguments, not %d", f.name, i, len(args))
		}
		if size != uint64(a.Size) {
			return fmt.Errorf("argument %d of %s has %d bytes: the function takes %d", i, f.name, a.Size, size)
		}
	}
	if !known {
		if _, more := f.paramSize(len(args)); more {
			return fmt.Errorf("%s takes more than the %d arguments given", f.name, len(args))
		}
	}
	return nil
}

// paramSize returns the size of the i-th parameter, and whether there is one.
func (f *function) paramSize(i int) (uint64, bool) {
	var offset, size uint64
	ok := f.module.device.api.cuFuncGetParamInfo(f.handle, uint64(i), &offset, &size) == 0
	return size, ok
}
