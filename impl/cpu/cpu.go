package cpu

import (
	"fmt"
	"runtime"

	"mage/contract"
	"mage/gpu"
	"mage/impl"
	"mage/timing"
	"mage/unavailable"
)

// Measurer times one operation that is complete when run returns. *timing.Host
// is one. It returns an *unavailable.Error for a mode that a CPU lacks.
type Measurer interface {
	Measure(run func() error, req timing.Request) (timing.Reading, error)
}

// Implementation computes all five contracts in Go.
type Implementation struct {
	name    string
	workers int
	host    Measurer
	state   *stateReader
	self    *executable
	kernels map[string]kernel // by contract name
}

// kernel allocates what it needs beside the buffers, once, and returns the
// function that performs the operation. It reads the buffers anew at every run.
type kernel func(b *buffers, p *pool) (run func())

// Naive returns cpu/naive: one goroutine, the loops in the order in which the
// mathematics is written.
func Naive(host Measurer) *Implementation {
	return newImplementation("cpu/naive", 1, host, map[string]kernel{
		"matmul":    naiveMatmul,
		"gelu":      naiveGELU,
		"layernorm": naiveLayerNorm,
		"triangle":  naiveTriangle,
		"neighbor":  naiveNeighbor,
	})
}

// Parallel returns cpu/parallel: every core, work tiled for registers and caches.
func Parallel(host Measurer) *Implementation {
	return newImplementation("cpu/parallel", runtime.GOMAXPROCS(0), host, map[string]kernel{
		"matmul":    parallelMatmul,
		"gelu":      parallelGELU,
		"layernorm": parallelLayerNorm,
		"triangle":  parallelTriangle,
		"neighbor":  parallelNeighbor,
	})
}

func newImplementation(name string, workers int, host Measurer, kernels map[string]kernel) *Implementation {
	return &Implementation{name, workers, host, newStateReader(), &executable{}, kernels}
}

var _ impl.Implementation = (*Implementation)(nil)

// Name is "cpu/naive" or "cpu/parallel".
func (m *Implementation) Name() string { return m.name }

// LaunchPath is "go": a plain call.
func (m *Implementation) LaunchPath() string { return "go" }

// Device is "cpu".
func (m *Implementation) Device() string { return "cpu" }

// State reads the load, the stolen time and the preemptions of this process.
func (m *Implementation) State() (gpu.State, error) { return m.state.read() }

// Open checks and copies the inputs, and starts the workers of the operation,
// which live until its Close. The error is a *contract.Error for bad inputs, an
// *unavailable.Error for a contract or precision mode that it lacks.
func (m *Implementation) Open(c contract.Contract, d contract.Dims, in contract.Tensors) (impl.Operation, error) {
	k, ok := m.kernels[c.Name()]
	if !ok || c.Precision() != contract.FP32 {
		return nil, unavailable.Newf(fmt.Sprintf("%s %s on %s", c.Name(), c.Precision(), m.name), "it is not implemented")
	}
	if err := c.CheckInputs(d, in); err != nil {
		return nil, fmt.Errorf("opening %s: %w", m.name, err)
	}
	op := &operation{
		impl:     m,
		contract: c,
		buffers:  newBuffers(c, d),
		pool:     newPool(m.workers),
	}
	op.buffers.load(in)
	op.run = k(op.buffers, op.pool)
	return op, nil
}
