package simt

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"mage/gpu"
	"mage/gpu/simt/exec"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/unavailable"
)

// function is a kernel entry point.
type function struct {
	module  *module
	program *program.Program
}

func (f *function) Name() string { return f.program.Name }

// Attributes returns what PTX decides. Registers are the business of the compiler
// behind PTX, so they are 0, and BinaryVersion is: there is no binary.
func (f *function) Attributes() (gpu.Attributes, error) {
	if err := f.module.usable(); err != nil {
		return gpu.Attributes{}, err
	}
	major, minor, _ := strings.Cut(f.module.symbols.Module.Version, ".")
	version, _ := strconv.Atoi(major + minor)
	return gpu.Attributes{
		StaticSharedBytes:  f.program.SharedBytes,
		LocalBytes:         f.program.LocalBytes,
		MaxThreadsPerBlock: f.maxThreads(),
		PTXVersion:         version,
	}, nil
}

func (f *function) maxThreads() int {
	if n := f.program.MaxThreads; n > 0 {
		return min(n, maxThreads)
	}
	return maxThreads
}

// maxGrid is the limit of each dimension of a grid (CUDA C++ Programming Guide,
// technical specifications per compute capability).
var maxGrid = [3]uint32{1<<31 - 1, 65535, 65535}

// Bind checks configuration and arguments as the driver would.
func (f *function) Bind(c gpu.Config, args ...gpu.Arg) (gpu.Launch, error) {
	if err := f.module.usable(); err != nil {
		return nil, err
	}
	p := f.program
	for i := range 3 {
		if c.Grid[i] == 0 || c.Block[i] == 0 {
			return nil, fmt.Errorf("bind %s: grid %v and block %v must be positive", p.Name, c.Grid, c.Block)
		}
		if c.Grid[i] > maxGrid[i] {
			return nil, fmt.Errorf("bind %s: grid %v: a GPU takes %v at most", p.Name, c.Grid, maxGrid)
		}
	}
	if n := uint64(c.Grid[0]) * uint64(c.Grid[1]) * uint64(c.Grid[2]); n > memory.MaxBlocks {
		return nil, unavailable.New(fmt.Sprintf("a grid of %d blocks for %s", n, p.Name),
			fmt.Sprintf("the simulator tells %d blocks apart", memory.MaxBlocks), "use a smaller grid")
	}
	if n := uint64(c.Block[0]) * uint64(c.Block[1]) * uint64(c.Block[2]); n > uint64(f.maxThreads()) {
		return nil, fmt.Errorf("bind %s: a block of %d threads: the function allows %d", p.Name, n, f.maxThreads())
	}
	if p.Required != nil && *p.Required != c.Block {
		return nil, fmt.Errorf("bind %s: blocks of %v: the function requires %v", p.Name, c.Block, *p.Required)
	}
	if total := int64(p.DynamicOffset) + int64(c.DynamicShared); total > sharedOptin {
		return nil, unavailable.New(fmt.Sprintf("%d bytes of shared memory per block for %s", total, p.Name),
			fmt.Sprintf("the simulator has %d, as an H200", sharedOptin), "use a smaller tile")
	}
	if len(args) != len(p.Params) {
		return nil, fmt.Errorf("bind %s: it takes %d arguments, got %d", p.Name, len(p.Params), len(args))
	}
	params := make([]byte, p.ParamBytes+8)
	for i, a := range args {
		if want := p.Params[i]; int(a.Size) != want.Size {
			return nil, fmt.Errorf("bind %s: argument %d has %d bytes, it takes %d", p.Name, i, a.Size, want.Size)
		}
		binary.LittleEndian.PutUint64(params[p.Params[i].Offset:], a.Bits)
	}
	return &launch{function: f, launch: exec.Launch{
		Program: p, Memory: f.module.device.memory, Grid: c.Grid, Block: c.Block,
		Dynamic: int(c.DynamicShared), Params: params[:p.ParamBytes],
		Workers: f.module.device.options.Workers, Unchecked: f.module.device.options.Unchecked,
		Sites: f.module.device.options.Sites, Watch: &f.module.device.watch,
		MaxInstructions: f.module.device.options.MaxBlockInstructions,
	}}, nil
}

// launch is a kernel with its configuration and arguments.
type launch struct {
	function *function
	launch   exec.Launch
}

// Submit queues the launch.
func (l *launch) Submit(to gpu.Stream) error {
	s, err := l.function.module.device.stream(to)
	if err != nil {
		return fmt.Errorf("submit %s: %w", l.function.program.Name, err)
	}
	if l.function.module.gone {
		return fmt.Errorf("submit %s: its module was unloaded", l.function.program.Name)
	}
	s.queue = append(s.queue, work{launch: l})
	return nil
}

// run executes the launch and keeps what it cost and showed.
func (l *launch) run() error {
	d := l.function.module.device
	d.launches++
	l.launch.Number = d.launches
	r, err := l.launch.Run()
	d.counters.Add(&r.Counters)
	d.sites = exec.MergeSites(d.sites, r.Sites)
	d.findings = append(d.findings, r.Findings...)
	d.printed = append(d.printed, r.Printed...)
	if err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return &CheckError{Findings: r.Findings}
	}
	return nil
}

// CheckError says that a kernel ran to its end and the checks found it wrong.
type CheckError struct{ Findings []Finding }

func (e *CheckError) Error() string {
	s := e.Findings[0].String()
	if n := len(e.Findings) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more findings)", n)
	}
	return s
}
