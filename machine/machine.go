package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"mage/evidence"
	"mage/experiment"
	"mage/gpu/cuda"
	"mage/impl/cpu"
	"mage/impl/native"
	"mage/kernels"
	"mage/timing"
	"mage/unavailable"
)

// Options say what to open.
type Options struct {
	// KernelDirs are directories of a user's own kernels, Exec of declared programs.
	KernelDirs, Exec []string
	// Python is the interpreter asked for; empty follows the environment.
	Python string
	// Wanted names the implementations that will be used. What is slow to open is
	// opened only for them; everything else is offered anyway.
	Wanted []string
	// GPU is the ordinal of the GPU. Simulate leaves every GPU alone and executes
	// kernels on the simulator, as on a machine that has no GPU.
	GPU      int
	Simulate bool
	// Version of mage, as it was built.
	Version, Commit string
}

// Machine is the opened laboratory. It belongs to the goroutine that opened it,
// which stays on its thread until Close.
type Machine struct {
	experiment.Lab
	host    *timing.Host
	gpu     *openGPU
	closers []func() error
}

// Open opens the CPU always, and a GPU or else the simulator. What is lacking is
// in Lacking and Notices; an error means that a user's kernel directory is bad or
// that the asked-for GPU does not exist.
// ctx ends programs that implementations run, and kernels on the simulator.
func Open(ctx context.Context, o Options) (*Machine, error) {
	m := &Machine{}
	m.Lacking = map[string]*unavailable.Error{}
	m.Versions = map[string]string{"go": runtime.Version()}
	m.Tool = tool(o)
	m.Host = host()

	info := cpu.Info()
	m.host = timing.NewHost(info.L2Bytes)
	m.Devices = append(m.Devices, evidence.Device{ID: "cpu", Info: info})
	m.Implementations = append(m.Implementations, cpu.Naive(m.host), cpu.Parallel(m.host))
	m.Calibrate = m.calibrate

	ks, err := loadKernels(o.KernelDirs)
	if err != nil {
		return nil, err
	}
	lacking, err := m.openGPU(o, ks)
	if err != nil {
		m.Close()
		return nil, err
	}
	if lacking != nil {
		m.Notices = append(m.Notices, lacking)
		if err := m.openSimulator(ctx, ks); err != nil {
			m.Close()
			return nil, err
		}
	}
	if err = m.openPrograms(ctx, o); err == nil {
		err = m.openPython(o)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close frees what was opened, the last opened first.
func (m *Machine) Close() error {
	var errs []error
	for i := len(m.closers) - 1; i >= 0; i-- {
		errs = append(errs, m.closers[i]())
	}
	m.closers = nil
	return errors.Join(errs...)
}

// otherFamilies are the families of the implementations that no kernel
// description gives: Go on the CPU, workers in Python, native programs.
var otherFamilies = []string{"cpu", "torch", "triton", "exec"}

func loadKernels(dirs []string) ([]kernels.Kernel, error) {
	builtin, err := kernels.Load(kernels.Builtin(), "built-in kernels")
	if err != nil {
		return nil, err
	}
	lists := [][]kernels.Kernel{builtin}
	for _, dir := range dirs {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--kernels %s: not a directory", dir)
		}
		ks, err := kernels.Load(os.DirFS(dir), dir)
		if err != nil {
			return nil, err
		}
		if len(ks) == 0 {
			return nil, fmt.Errorf("--kernels %s: no kernel.toml below it", dir)
		}
		for _, k := range ks {
			// A table must never show one of them under the name of another.
			if family, _, _ := strings.Cut(k.Implementation, "/"); slices.Contains(otherFamilies, family) {
				return nil, &kernels.Error{File: k.File, Line: 1,
					Problem: fmt.Sprintf("implementation = %q: %s/ is for implementations that are no kernels; want another family, such as cuda", k.Implementation, family)}
			}
		}
		lists = append(lists, ks)
	}
	return kernels.Merge(lists...)
}

// openGPU is the GPU with what is needed to measure on it.
type openGPU struct {
	id     string
	device *cuda.Device
	timer  *timing.Device
	native native.Options
}

// openGPU opens the GPU and its implementations. The first result is the reason
// why there is none; the second an error that the user should mend.
func (m *Machine) openGPU(o Options, ks []kernels.Kernel) (*unavailable.Error, error) {
	if o.Simulate {
		return unavailable.New("GPU", "left alone with --simulate", ""), nil
	}
	// A GPU that is there and cannot be used, because it is full for one, is not
	// passed over in silence: what would be measured is not what was asked for.
	broken := func(err error) error {
		return fmt.Errorf("GPU %d: %w (--simulate goes on without it)", o.GPU, err)
	}
	dev, err := cuda.Open(o.GPU)
	if err != nil {
		// The first GPU is used when there is one; another was asked for by name.
		if u, ok := unavailable.As(err); ok && o.GPU == 0 {
			return u, nil
		}
		return nil, broken(err)
	}
	m.closers = append(m.closers, dev.Close)
	stream, err := dev.NewStream()
	if err != nil {
		return nil, broken(err)
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		return nil, broken(err)
	}
	m.closers = append(m.closers, func() error { timer.Close(); return nil })

	opt := native.Options{Device: dev, Stream: stream, Timer: timer, DeviceID: fmt.Sprintf("cuda:%d", o.GPU)}
	compiler, err := cuda.OpenNVRTC(cuda.DefaultOptions().NVRTCPath)
	if err == nil {
		opt.Compiler = compiler
		m.Versions["nvrtc"] = compiler.Version()
	} else if u, ok := unavailable.As(err); ok {
		m.Notices = append(m.Notices, u)
	} else {
		return nil, err
	}
	if lib, err := cuda.ProbeCUPTI(); err == nil {
		m.Versions["cupti"] = lib.Version
	} else if u, ok := unavailable.As(err); ok {
		m.Notices = append(m.Notices, u)
	}
	natives, err := native.New(opt, ks)
	if err != nil {
		return nil, err
	}
	m.Implementations = append(m.Implementations, natives...)
	m.gpu = &openGPU{id: opt.DeviceID, device: dev, timer: timer, native: opt}
	m.Devices = append(m.Devices, evidence.Device{ID: opt.DeviceID, Info: dev.Info()})
	return nil, nil
}

func (m *Machine) calibrate(device string) (timing.Calibration, error) {
	switch {
	case device == "cpu":
		return m.host.Calibrate(), nil
	case m.gpu != nil && device == m.gpu.id:
		return m.gpu.timer.Calibrate()
	}
	return timing.Calibration{}, fmt.Errorf("no device %q is open", device)
}

// tool identifies the binary: what the build was told, else what Go recorded.
func tool(o Options) evidence.Tool {
	t := evidence.Tool{Version: o.Version, Commit: o.Commit, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && t.Commit == "":
				t.Commit = s.Value
			case s.Key == "vcs.modified":
				t.Modified = s.Value == "true"
			}
		}
	}
	return t
}
