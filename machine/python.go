package machine

import (
	"errors"
	"slices"
	"strings"

	"mage/gpu"
	"mage/impl/native"
	"mage/impl/python"
	"mage/unavailable"
)

// cudaPython is the launch path of other kernels through the Python worker.
const cudaPython = "cuda-python"

// wantsPython says whether one of the names needs the Python worker. Starting it
// imports torch, which takes seconds: nobody else should wait for that.
func wantsPython(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		name, path, _ := strings.Cut(n, "@")
		return path == cudaPython || slices.Contains(python.Names(), name)
	})
}

// openPython adds what the Python worker offers: its own implementations, and
// the kernels of others over its launch path.
func (m *Machine) openPython(o Options) error {
	if !wantsPython(o.Wanted) {
		return nil
	}
	lacks := func(names []string, err error) error {
		u, ok := unavailable.As(err)
		if failure, failed := errors.AsType[*python.Failure](err); failed {
			u, ok = unavailable.New("the Python worker", failure.Error(), "see mage doctor"), true
		}
		if !ok {
			return err
		}
		for _, n := range names {
			m.Lacking[n] = u
		}
		return nil
	}
	crossed := []string{}
	for _, i := range m.Implementations {
		crossed = append(crossed, i.Name()+"@"+cudaPython)
	}
	for _, name := range []string{"triton/fixed", "triton/autotuned", "torch/compile", "torch/compile-max"} {
		crossed = append(crossed, name+"@driver", name+"@"+cudaPython)
	}
	everything := append(python.Names(), crossed...)

	device, state := "cpu", m.Implementations[0].State
	if m.gpu != nil {
		device, state = m.gpu.id, m.gpu.device.State
	}
	worker, err := python.Start(python.Options{Interpreter: o.Python, Device: device})
	if err != nil {
		return lacks(everything, err)
	}
	m.closers = append(m.closers, worker.Close)
	versions, err := worker.Versions()
	if err != nil {
		return lacks(everything, err)
	}
	for name, v := range versions {
		m.Versions[name] = v
	}
	for _, i := range worker.Implementations(state) {
		if err := worker.Offers(i.Name()); err == nil {
			m.Implementations = append(m.Implementations, i)
		} else if err := lacks([]string{i.Name()}, err); err != nil {
			return err
		}
	}
	if m.gpu == nil {
		return lacks(crossed, unavailable.New("a kernel over another launch path", "there is no GPU", ""))
	}
	m.cross(worker, state)
	return nil
}

// cross adds the same device code over other launchers: the driver's kernels
// through the worker, Triton's and Inductor's through the driver and the worker.
func (m *Machine) cross(worker *python.Worker, state func() (gpu.State, error)) {
	var more []python.Kernels
	for _, i := range m.Implementations {
		if n, ok := i.(*native.Implementation); ok {
			more = append(more, n)
		}
	}
	info := m.gpu.device.Info()
	for _, made := range []python.Kernels{worker.Triton(info), worker.TritonAutotuned(info), worker.Compiled("torch/compile"), worker.Compiled("torch/compile-max")} {
		if _, lacks := m.Lacking[made.Name()]; lacks {
			continue
		}
		m.Implementations = append(m.Implementations, python.Driver(m.gpu.native, made))
		more = append(more, made)
	}
	for _, k := range more {
		m.Implementations = append(m.Implementations, worker.CUDAPython(k, state))
	}
}
