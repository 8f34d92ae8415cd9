package triton

import (
	"mage/gpu"
	"mage/kernels"
)

// Plan is the launch in the form of other kernels. A buffer that the contract does
// not know is scratch memory that these kernels do not use: a null pointer.
func (l Launch) Plan(k Kernel, buffers ...string) kernels.Plan {
	known := map[string]bool{}
	for _, b := range buffers {
		known[b] = true
	}
	p := kernels.Launch{Entry: k.Entry, Config: gpu.Config{Grid: l.Grid,
		Block: [3]uint32{uint32(32 * k.Warps), 1, 1}, DynamicShared: uint32(k.Shared)}}
	for _, name := range k.Arguments {
		v, scalar := l.Scalars[name]
		switch {
		case scalar:
			p.Params = append(p.Params, kernels.Param{Name: name, Scalar: gpu.Int32(int32(v))})
		case known[name]:
			p.Params = append(p.Params, kernels.Param{Buffer: name})
		default:
			p.Params = append(p.Params, kernels.Param{Name: name, Scalar: gpu.Pointer(0)})
		}
	}
	return kernels.Plan{Launches: []kernels.Launch{p}}
}
