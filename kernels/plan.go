package kernels

import (
	"fmt"
	"math"

	"mage/contract"
	"mage/gpu"
	"mage/unavailable"
)

// ScalarType is the C type of a scalar parameter.
type ScalarType string

// The types of scalar parameters: int, unsigned, long long, float, double.
const (
	I32 ScalarType = "i32"
	U32 ScalarType = "u32"
	I64 ScalarType = "i64"
	F32 ScalarType = "f32"
	F64 ScalarType = "f64"
)

func scalarTypes() []string {
	return []string{string(I32), string(U32), string(I64), string(F32), string(F64)}
}

// Plan is a kernel at one shape: what to allocate and what to launch, in order.
type Plan struct {
	Scratch  []Scratch
	Launches []Launch
}

// Scratch is a device buffer beside inputs and output. Its content before the
// first launch of an operation is undefined.
type Scratch struct {
	Name  string
	Bytes int64
}

// Launch is one kernel launch of an operation.
type Launch struct {
	Entry  string
	Params []Param
	Config gpu.Config
	// Zero names buffers that are set to zero before the launch, each time.
	Zero []string
	// Empty says that the grid has no blocks at this shape: the buffers are
	// zeroed and nothing is launched.
	Empty bool
}

// Param is a kernel parameter: a buffer by name, or a scalar when Buffer is "".
type Param struct {
	Buffer string
	Name   string
	Scalar gpu.Arg
}

// Plan evaluates the description at valid dims with the given values of the
// tunables (checked with CheckValues). It returns an *unavailable.Error when the
// shape does not meet the kernel's needs or exceeds what CUDA can launch.
func (k Kernel) Plan(d contract.Dims, v Values) (Plan, error) {
	if err := k.CheckValues(v); err != nil {
		return Plan{}, err
	}
	env := scope{}
	for name, n := range d {
		env[name] = n
	}
	for name, n := range v {
		env[name] = n
	}
	for _, n := range k.needs {
		ok, err := n.that.holds(env)
		if err != nil {
			return Plan{}, k.wrap(err)
		}
		if !ok {
			return Plan{}, unavailable.Newf(k.Name()+" at this shape", "it needs %s: %s", n.that.text, n.because)
		}
	}
	var p Plan
	for _, s := range k.scratch {
		bytes, err := s.bytes.integer(env)
		if err != nil {
			return Plan{}, k.wrap(err)
		}
		if bytes < 0 {
			return Plan{}, k.wrap(fmt.Errorf("scratch %s has %d bytes", s.name, bytes))
		}
		p.Scratch = append(p.Scratch, Scratch{s.name, int64(bytes)})
	}
	for _, l := range k.launches {
		planned, err := l.plan(env)
		if err != nil {
			return Plan{}, k.wrap(err)
		}
		if problem := planned.exceeds(); problem != "" {
			return Plan{}, unavailable.New(k.Name()+" at this shape", l.entry+": "+problem, "")
		}
		p.Launches = append(p.Launches, planned)
	}
	return p, nil
}

func (k Kernel) wrap(err error) error { return fmt.Errorf("%s: %w", k.File, err) }

func (l launch) plan(env scope) (Launch, error) {
	out := Launch{Entry: l.entry, Zero: l.zero}
	for _, p := range l.params {
		arg, err := p.plan(env)
		if err != nil {
			return out, fmt.Errorf("%s: %w", l.entry, err)
		}
		out.Params = append(out.Params, arg)
	}
	for i := range 3 {
		grid, err := sized(l.grid[i], env)
		if err != nil {
			return out, fmt.Errorf("%s: grid %w", l.entry, err)
		}
		block, err := sized(l.block[i], env)
		if err != nil {
			return out, fmt.Errorf("%s: block %w", l.entry, err)
		}
		out.Config.Grid[i], out.Config.Block[i] = grid, block
		out.Empty = out.Empty || grid == 0
	}
	if l.shared != nil {
		shared, err := sized(*l.shared, env)
		if err != nil {
			return out, fmt.Errorf("%s: shared %w", l.entry, err)
		}
		out.Config.DynamicShared = shared
	}
	return out, nil
}

// sized evaluates an expression that must fit an unsigned 32-bit number.
func sized(e expression, env scope) (uint32, error) {
	n, err := e.integer(env)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > math.MaxUint32 {
		return 0, fmt.Errorf("%q is %d", e.text, n)
	}
	return uint32(n), nil
}

// exceeds names the limit of every CUDA device that the launch is beyond: the
// "Maximum x-, y- and z-dimension" rows of the CUDA C++ Programming Guide's table
// of technical specifications per compute capability.
func (l Launch) exceeds() string {
	g, b := l.Config.Grid, l.Config.Block
	switch threads := uint64(b[0]) * uint64(b[1]) * uint64(b[2]); {
	case g[0] > math.MaxInt32 || g[1] > 65535 || g[2] > 65535:
		return fmt.Sprintf("a grid of %d×%d×%d blocks exceeds 2147483647×65535×65535", g[0], g[1], g[2])
	case b[0] > 1024 || b[1] > 1024 || b[2] > 64 || threads == 0 || threads > 1024:
		return fmt.Sprintf("a block of %d×%d×%d threads: want 1 to 1024, at most 64 in z", b[0], b[1], b[2])
	}
	return ""
}

func (p param) plan(env scope) (Param, error) {
	out := Param{Buffer: p.buffer, Name: p.name}
	if p.buffer != "" {
		return out, nil
	}
	if p.scalar == F32 || p.scalar == F64 {
		x, err := p.value.real(env)
		if err != nil {
			return out, err
		}
		out.Scalar = gpu.Float64(x)
		if p.scalar == F32 {
			out.Scalar = gpu.Float32(float32(x))
		}
		return out, nil
	}
	n, err := p.value.integer(env)
	if err != nil {
		return out, err
	}
	switch {
	case p.scalar == I32 && int64(n) == int64(int32(n)):
		out.Scalar = gpu.Int32(int32(n))
	case p.scalar == U32 && int64(n) == int64(uint32(n)):
		out.Scalar = gpu.Uint32(uint32(n))
	case p.scalar == I64:
		out.Scalar = gpu.Int64(int64(n))
	default:
		return out, fmt.Errorf("%s = %d does not fit %s", p.name, n, p.scalar)
	}
	return out, nil
}
