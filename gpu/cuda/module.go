package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"mage/gpu"
)

// Options of the driver's PTX compiler (cuda.h, enum CUjit_option).
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLogVerbose   = 12
)

// jitLogBytes is the room given to each of the two logs.
const jitLogBytes = 16 << 10

// module is loaded device code, its functions, and the arguments bound to them.
type module struct {
	device    *Device
	handle    uintptr
	functions map[string]*function
	params    map[string]int // parameters by kernel, where the image tells
	log       string
	// pins hold the argument storage of launches in place, since the driver reads
	// it on every submit.
	pins runtime.Pinner
	gone bool
}

// Load makes a module of PTX text, a cubin or a fatbin. What the driver's compiler
// says about rejected PTX is in the Detail of the *DriverError; PTX newer than the
// driver matches ErrUnsupportedPTX.
func (d *Device) Load(image []byte) (gpu.Module, error) {
	if d.dead != nil {
		return nil, d.dead
	}
	if len(image) == 0 {
		return nil, errors.New("load a module: the image is empty")
	}
	ptx := isPTX(image)
	if ptx {
		// The driver reads PTX as a C string.
		image = append(bytes.TrimRight(image[:len(image):len(image)], "\x00"), 0)
	}
	info, errs := make([]byte, jitLogBytes), make([]byte, jitLogBytes)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&info[0])
	pin.Pin(&errs[0])
	options := [...]int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize, jitLogVerbose}
	values := [...]uintptr{
		uintptr(unsafe.Pointer(&info[0])), jitLogBytes - 1,
		uintptr(unsafe.Pointer(&errs[0])), jitLogBytes - 1, 1}
	m := &module{device: d, functions: map[string]*function{}}
	code := d.api.cuModuleLoadDataEx(&m.handle, &image[0], uint32(len(options)), &options[0], &values[0])
	if code != 0 {
		err := d.failed("cuModuleLoadDataEx", code)
		err.Detail = strings.TrimSpace(goString(&errs[0]))
		if errors.Is(err, ErrUnsupportedPTX) {
			err.Detail = explainPTX(image, d.api.version)
		}
		return nil, err
	}
	m.log, m.params = goString(&info[0]), paramCounts(image)
	d.modules[m] = struct{}{}
	return m, nil
}

// isPTX tells PTX text from a cubin (ELF) and a fatbin.
func isPTX(image []byte) bool {
	return !bytes.HasPrefix(image, []byte("\x7fELF")) && !bytes.HasPrefix(image, []byte{0x50, 0xed, 0x55, 0xba})
}

// JITLog returns what the driver's compiler said when it loaded a module from
// PTX: per function the registers, stack and spills, for ParsePTXASInfo. It is
// empty for a cubin, for a result of the driver's cache, and for a module of
// another package.
func JITLog(m gpu.Module) string {
	if m, ok := m.(*module); ok {
		return m.log
	}
	return ""
}

func (m *module) usable() error {
	if m.device.dead != nil {
		return m.device.dead
	}
	if m.gone {
		return fmt.Errorf("module: %w", errForeign)
	}
	return nil
}

// Function finds a kernel by its name in the image.
func (m *module) Function(name string) (gpu.Function, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	f := &function{module: m, name: name}
	code := m.device.api.cuModuleGetFunction(&f.handle, m.handle, name)
	if err := m.device.check("cuModuleGetFunction", code); err != nil {
		return nil, fmt.Errorf("function %q: %w", name, err)
	}
	m.functions[name] = f
	return f, nil
}

// Unload removes the code from the device. Launches bound to it cannot be
// submitted any more.
func (m *module) Unload() error {
	if err := m.usable(); err != nil {
		return err
	}
	return m.unload()
}

func (m *module) unload() error {
	delete(m.device.modules, m)
	m.gone = true
	m.pins.Unpin()
	return m.device.check("cuModuleUnload", m.device.api.cuModuleUnload(m.handle))
}
