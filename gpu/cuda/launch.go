package cuda

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"mage/gpu"
)

// launch is a kernel with its configuration and arguments. args is the argument
// list of cuLaunchKernel; values holds the kernel's arguments and params points
// at them, both pinned by the module until it is unloaded.
type launch struct {
	function *function
	args     [11]uintptr
	values   []uint64
	params   []unsafe.Pointer
}

// streamArg is the index of the stream among cuLaunchKernel's arguments.
const streamArg = 8

// Bind fixes configuration and arguments. The number and sizes of the arguments
// are checked where the driver can say what the function takes. More shared
// memory than the device has is an *unavailable.Error.
func (f *function) Bind(c gpu.Config, args ...gpu.Arg) (gpu.Launch, error) {
	if err := f.module.usable(); err != nil {
		return nil, err
	}
	for i := range 3 {
		if c.Grid[i] == 0 || c.Block[i] == 0 {
			return nil, fmt.Errorf("bind %s: grid %v and block %v must be positive", f.name, c.Grid, c.Block)
		}
	}
	limit, err := f.attribute(funcMaxThreadsPerBlock)
	if err != nil {
		return nil, err
	}
	if n := uint64(c.Block[0]) * uint64(c.Block[1]) * uint64(c.Block[2]); n > uint64(limit) {
		return nil, fmt.Errorf("bind %s: a block of %d threads: the function allows %d", f.name, n, limit)
	}
	if err := f.checkArgs(args); err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	if err := f.allowShared(c.DynamicShared); err != nil {
		return nil, err
	}
	l := &launch{function: f, values: make([]uint64, len(args)), params: make([]unsafe.Pointer, len(args))}
	var params uintptr
	if len(args) > 0 {
		f.module.pins.Pin(&l.values[0])
		f.module.pins.Pin(&l.params[0])
		for i, a := range args {
			l.values[i] = a.Bits // little-endian: a 4-byte argument is its first half
			l.params[i] = unsafe.Pointer(&l.values[i])
		}
		params = uintptr(unsafe.Pointer(&l.params[0]))
	}
	l.args = [11]uintptr{f.handle,
		uintptr(c.Grid[0]), uintptr(c.Grid[1]), uintptr(c.Grid[2]),
		uintptr(c.Block[0]), uintptr(c.Block[1]), uintptr(c.Block[2]),
		uintptr(c.DynamicShared), 0, params, 0}
	return l, nil
}

// Submit queues the launch. It allocates nothing and does not wait.
func (l *launch) Submit(to gpu.Stream) error {
	d := l.function.module.device
	if d.dead != nil {
		return d.dead
	}
	s, ok := to.(*stream)
	if !ok || s.device != d || s.gone {
		return fmt.Errorf("submit %s to a stream: %w", l.function.name, errForeign)
	}
	if l.function.module.gone {
		return fmt.Errorf("submit %s: its module was unloaded", l.function.name)
	}
	l.args[streamArg] = s.handle
	r, _, _ := purego.SyscallN(d.api.cuLaunchKernel, l.args[:]...)
	if r := int32(r); r != 0 {
		return fmt.Errorf("launch %s: %w", l.function.name, d.failed("cuLaunchKernel", r))
	}
	return nil
}
