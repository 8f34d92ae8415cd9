package cuda

import (
	"fmt"

	"github.com/ebitengine/purego"

	"mage/gpu"
)

// captureThreadLocal refuses unsafe calls of the capturing thread only
// (CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).
const captureThreadLocal = 1

// graph is an instantiated graph.
type graph struct {
	device *Device
	exec   uintptr
	nodes  int
	args   [2]uintptr
	gone   bool
}

// Capture records what f submits to this stream, instantiates it and uploads it
// to the device. When f fails or panics the capture is ended and thrown away.
func (s *stream) Capture(f func() error) (_ gpu.Graph, err error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	d, api := s.device, s.device.api
	if err := api.require(graphs); err != nil {
		return nil, err
	}
	if err := d.check("cuStreamBeginCapture_v2", api.cuStreamBeginCapture(s.handle, captureThreadLocal)); err != nil {
		return nil, err
	}
	var template uintptr
	capturing := true
	end := func() error {
		code := api.cuStreamEndCapture(s.handle, &template)
		capturing = code != 0
		return d.check("cuStreamEndCapture", code)
	}
	defer func() {
		if capturing { // f or ending it failed: what ending it says is a consequence
			_ = end()
		}
		if template != 0 {
			// After an error this one is a consequence, too.
			if destroyErr := d.check("cuGraphDestroy", api.cuGraphDestroy(template)); err == nil {
				err = destroyErr
			}
		}
	}()
	if err := f(); err != nil {
		return nil, fmt.Errorf("capture a graph: %w", err)
	}
	if err := end(); err != nil {
		return nil, fmt.Errorf("capture a graph: %w", err)
	}
	var nodes uint64
	if err := d.check("cuGraphGetNodes", api.cuGraphGetNodes(template, nil, &nodes)); err != nil {
		return nil, err
	}
	g := &graph{device: d, nodes: int(nodes)}
	if err := d.check("cuGraphInstantiateWithFlags", api.cuGraphInstantiate(&g.exec, template, 0)); err != nil {
		return nil, fmt.Errorf("instantiate a graph of %d nodes: %w", nodes, err)
	}
	d.graphs[g] = struct{}{}
	// Without the upload the first replay would pay for it.
	if api.cuGraphUpload != nil {
		if err := d.check("cuGraphUpload", api.cuGraphUpload(g.exec, s.handle)); err != nil {
			_ = g.destroy()
			return nil, err
		}
	}
	return g, nil
}

// Replay queues one execution of the graph.
func (s *stream) Replay(gr gpu.Graph) error {
	if err := s.usable(); err != nil {
		return err
	}
	g, ok := gr.(*graph)
	if !ok || g.device != s.device || g.gone {
		return fmt.Errorf("replay a graph: %w", errForeign)
	}
	g.args[0], g.args[1] = g.exec, s.handle
	r, _, _ := purego.SyscallN(s.device.api.cuGraphLaunch, g.args[:]...)
	return s.device.check("cuGraphLaunch", int32(r))
}

// Nodes is the number of nodes captured.
func (g *graph) Nodes() int { return g.nodes }

func (g *graph) Destroy() error {
	if g.device.dead != nil {
		return g.device.dead
	}
	if g.gone {
		return fmt.Errorf("graph: %w", errForeign)
	}
	return g.destroy()
}

func (g *graph) destroy() error {
	delete(g.device.graphs, g)
	g.gone = true
	return g.device.check("cuGraphExecDestroy", g.device.api.cuGraphExecDestroy(g.exec))
}
