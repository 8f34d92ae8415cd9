//go:build linux

package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"mage/unavailable"
)

// Names and values of nvml.h. NVML keeps entry points by name and version for
// ever, so none of this depends on the driver's version.
const (
	nvmlLibrary = "libnvidia-ml.so.1"

	nvmlClockSM     = 1
	nvmlClockMemory = 2

	nvmlTemperatureGPU = 0

	nvmlStringBytes = 96 // NVML_DEVICE_UUID_V2_BUFFER_SIZE, the longest one asked for
)

// nvmlDevice reads the condition of one GPU from the management library. Every
// entry point but the three that find the device is optional: an older driver
// lacks some, and a virtual or consumer GPU refuses others. Like the device it
// describes, it belongs to one goroutine.
type nvmlDevice struct {
	lib    uintptr
	handle uintptr
	open   bool
	symbol nvmlSymbols

	// Results are written here: NVML needs an address that does not move, and a
	// reading between rounds should not allocate.
	out struct {
		u32    [2]uint32
		u64    uint64
		handle uintptr
		text   [nvmlStringBytes]byte
		procs  [nvmlMaxProcesses]nvmlProcess
	}
}

type nvmlSymbols struct {
	shutdown, errorString                uintptr
	driver, uuid                         uintptr
	clock, maxClock, temperature, power  uintptr
	clockReasons, utilisation, processes uintptr
	persistence, powerLimit              uintptr
}

// openNVML finds the GPU with the given UUID ("GPU-…" or "MIG-…"). The error is
// an *unavailable.Error when this machine has no NVML or NVML no such device.
func openNVML(uuid string) (*nvmlDevice, error) {
	return openNVMLFrom(nvmlLibrary, uuid)
}

func openNVMLFrom(library, uuid string) (*nvmlDevice, error) {
	const remedy = "install the NVIDIA driver's management library (libnvidia-ml.so.1)"
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, unavailable.New("NVML", err.Error(), remedy)
	}
	d := &nvmlDevice{lib: lib}
	initialise, byUUID := d.find("nvmlInit_v2"), d.find("nvmlDeviceGetHandleByUUID")
	d.symbol = nvmlSymbols{
		shutdown:     d.find("nvmlShutdown"),
		errorString:  d.find("nvmlErrorString"),
		driver:       d.find("nvmlSystemGetDriverVersion"),
		uuid:         d.find("nvmlDeviceGetUUID"),
		clock:        d.find("nvmlDeviceGetClockInfo"),
		maxClock:     d.find("nvmlDeviceGetMaxClockInfo"),
		temperature:  d.find("nvmlDeviceGetTemperature"),
		power:        d.find("nvmlDeviceGetPowerUsage"),
		clockReasons: d.find("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
		utilisation:  d.find("nvmlDeviceGetUtilizationRates"),
		processes:    d.find("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"),
		persistence:  d.find("nvmlDeviceGetPersistenceMode"),
		powerLimit:   d.find("nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"),
	}
	for name, fn := range map[string]uintptr{
		"nvmlInit_v2": initialise, "nvmlShutdown": d.symbol.shutdown, "nvmlDeviceGetHandleByUUID": byUUID,
	} {
		if fn == 0 {
			return nil, unavailable.New("NVML", library+" has no symbol "+name, "update the NVIDIA driver")
		}
	}
	if r := callC(initialise); r != 0 {
		return nil, unavailable.New("NVML", "nvmlInit_v2: "+d.errorText(r), "load the NVIDIA driver and check its devices' permissions")
	}
	d.open = true
	name := append([]byte(uuid), 0)
	r := callC(byUUID, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&d.out.handle)))
	runtime.KeepAlive(name)
	if r != 0 {
		reason := fmt.Sprintf("no device %s: %s", uuid, d.errorText(r))
		d.close()
		return nil, unavailable.New("NVML", reason, "")
	}
	d.handle = d.out.handle
	return d, nil
}

// close releases the library. It is safe to call twice; later readings are nil.
func (d *nvmlDevice) close() {
	if d == nil || !d.open {
		return
	}
	d.open = false
	// NVML counts initialisations, so this does not end another user's.
	callC(d.symbol.shutdown)
}

// driverVersion is the NVIDIA driver's version ("580.159.04"), empty if unknown.
func (d *nvmlDevice) driverVersion() string {
	if !d.readable(d.symbol.driver) {
		return ""
	}
	return d.readText(callC(d.symbol.driver, uintptr(unsafe.Pointer(&d.out.text)), nvmlStringBytes))
}

// uuid is the device's own UUID, empty if unknown.
func (d *nvmlDevice) uuid() string {
	if !d.readable(d.symbol.uuid) {
		return ""
	}
	return d.readText(callC(d.symbol.uuid, d.handle, uintptr(unsafe.Pointer(&d.out.text)), nvmlStringBytes))
}

// maxSMClockMHz is the highest clock of the multiprocessors.
func (d *nvmlDevice) maxSMClockMHz() (int, bool) {
	v := d.readInt(d.symbol.maxClock, nvmlClockSM)
	if v == nil {
		return 0, false
	}
	return *v, true
}

// powerLimitW is the power limit in force, in watts.
func (d *nvmlDevice) powerLimitW() *float64 {
	return milliwatts(d.readInt(d.symbol.powerLimit))
}

// persistenceMode says whether the driver stays initialised without a client.
func (d *nvmlDevice) persistenceMode() *bool {
	v := d.readInt(d.symbol.persistence)
	if v == nil {
		return nil
	}
	on := *v != 0
	return &on
}

func (d *nvmlDevice) readable(fn uintptr) bool { return d != nil && d.open && fn != 0 }

// readInt calls fn(device, arguments…, *unsigned) and returns nil when the entry
// point is missing or the device does not offer the reading.
func (d *nvmlDevice) readInt(fn uintptr, args ...uintptr) *int {
	if !d.readable(fn) {
		return nil
	}
	out := uintptr(unsafe.Pointer(&d.out.u32))
	var r uint32
	switch len(args) {
	case 0:
		r = callC(fn, d.handle, out)
	default:
		r = callC(fn, d.handle, args[0], out)
	}
	if r != 0 {
		return nil
	}
	v := int(d.out.u32[0])
	return &v
}

func (d *nvmlDevice) readText(result uint32) string {
	if result != 0 {
		return ""
	}
	return untilNUL(d.out.text[:])
}

// find returns the first of names that the library has, or 0.
func (d *nvmlDevice) find(names ...string) uintptr {
	for _, name := range names {
		if p, err := purego.Dlsym(d.lib, name); err == nil {
			return p
		}
	}
	return 0
}

func (d *nvmlDevice) errorText(result uint32) string {
	if d.symbol.errorString != 0 {
		p, _, _ := purego.SyscallN(d.symbol.errorString, uintptr(result))
		if s := textAt(p); s != "" {
			return fmt.Sprintf("%s (%d)", s, result)
		}
	}
	return fmt.Sprintf("NVML error %d", result)
}
