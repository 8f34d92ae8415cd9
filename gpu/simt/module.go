package simt

import (
	"bytes"
	"errors"
	"fmt"

	"mage/gpu"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/simt/ptx"
	"mage/unavailable"
)

// module is PTX that has been read, with its variables in memory.
type module struct {
	device    *Device
	symbols   program.Symbols
	owned     []*memory.Allocation
	functions map[string]*function
	gone      bool
}

// Load reads PTX text. A cubin cannot be executed here.
func (d *Device) Load(image []byte) (gpu.Module, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(image, []byte("\x7fELF")) || bytes.HasPrefix(image, []byte{0x50, 0xed, 0x55, 0xba}) {
		return nil, errors.New("load a module: the simulator executes PTX text, this is machine code")
	}
	tree, err := ptx.Parse("ptx", image)
	if err != nil {
		return nil, fmt.Errorf("load a module: %w", err)
	}
	rename(tree)
	m := &module{device: d, functions: map[string]*function{},
		symbols: program.Symbols{Module: tree, Address: map[string]uint64{}}}
	if err := m.place(); err != nil {
		m.free()
		return nil, fmt.Errorf("load a module: %w", err)
	}
	d.modules[m] = struct{}{}
	return m, nil
}

// Function prepares a kernel. An instruction that the simulator does not know is an
// *unavailable.Error that names it and its line.
func (m *module) Function(name string) (gpu.Function, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	p, err := program.Lower(m.symbols, name)
	if unknown, ok := errors.AsType[*program.Unknown](err); ok {
		return nil, unavailable.New("kernel "+name+" on the simulator", unknown.Error(), gpuRemedy)
	}
	if err != nil {
		return nil, fmt.Errorf("function %q: %w", name, err)
	}
	f := &function{module: m, program: p}
	m.functions[name] = f
	return f, nil
}

func (m *module) usable() error {
	if err := m.device.usable(); err != nil {
		return err
	}
	if m.gone {
		return errors.New("the module was unloaded")
	}
	return nil
}

// Unload removes the module and its variables, after what is queued has run.
func (m *module) Unload() error {
	if err := m.usable(); err != nil {
		return err
	}
	err := m.device.drain()
	m.gone = true
	delete(m.device.modules, m)
	m.free()
	return err
}

func (m *module) free() {
	for _, a := range m.owned {
		_ = m.device.memory.Free(a.Base) // it is ours, so it is there
	}
	m.owned = nil
}
