package python

import (
	"fmt"
	"path/filepath"

	"mage/timing"
	"mage/unavailable"
)

// A process that has traced kernels once launches slower for the rest of its
// life: torch leaves CUPTI attached (BenchmarkEagerAroundTrace). Kernel mode
// therefore runs in a second process of the same source, the tracer, which runs in
// no other mode.

// startTracer returns the worker that traces for w, without starting a process.
// It shares the caches of compilers, so that both run the same binaries.
func (w *Worker) startTracer() (*Worker, error) {
	if w.tracer != nil {
		return w.tracer, nil
	}
	o := w.options
	o.Interpreter, o.Dir, o.tracing = w.choice.Path, w.dir, true
	o.Env = append([]string{
		"TORCHINDUCTOR_CACHE_DIR=" + filepath.Join(w.dir, "cache", "inductor"),
		"TRITON_CACHE_DIR=" + filepath.Join(w.dir, "cache", "triton"),
	}, o.Env...)
	t, err := Start(o)
	if err != nil {
		return nil, fmt.Errorf("the process that traces kernels: %w", err)
	}
	w.tracer = t
	return t, nil
}

// traces says whether kernel mode needs the tracer: on a GPU, unless this is it.
func (w *Worker) traces() bool {
	return !w.options.tracing && (w.options.Device != "cpu" || w.options.traceOnCPU)
}

// warmTracer imports what the tracer needs and creates its context on the
// device, so that it is company there before anybody counts it. The channel
// gives its error, once.
func (w *Worker) warmTracer() <-chan error {
	done := make(chan error, 1)
	t, err := w.startTracer()
	if err != nil {
		done <- err
		return done
	}
	go func() {
		_, err := t.Versions()
		done <- err
	}()
	return done
}

// trace measures kernel mode in the tracer. Until the next request that changes
// something, the output and the inputs are those of the tracer: the gate judges
// what was measured.
func (o *operation) trace(req timing.Request) (timing.Reading, error) {
	if err := o.openTraced(); err != nil {
		return timing.Reading{}, err
	}
	if err := o.traced.SetInputs(o.inputs); err != nil {
		return timing.Reading{}, err
	}
	if err := o.traced.Poison(o.poisoned); err != nil {
		return timing.Reading{}, err
	}
	o.judged = o.traced
	return o.traced.Measure(req)
}

// openTraced opens the same operation, with the same tunables, in the tracer.
func (o *operation) openTraced() error {
	if o.traced != nil {
		return nil
	}
	t, err := o.worker.startTracer()
	if err != nil {
		return err
	}
	copied := &operation{worker: t, contract: o.contract, dims: o.dims, name: o.name, request: o.request, arrays: o.arrays, inputs: o.inputs, known: o.known}
	if err := copied.open(); err != nil {
		return fmt.Errorf("opening %s for tracing: %w", o.name, err)
	}
	if got, want := copied.identity.BinarySHA256, o.identity.BinarySHA256; got != want {
		_ = copied.Close()
		return unavailable.New("kernel mode of "+o.name, "the process that traces kernels compiled another binary", "")
	}
	o.traced = copied
	return nil
}
