package cuda

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"mage/unavailable"
)

// Names and values of nvml.h. NVML keeps entry points by name and version for
// ever, so none of this depends on the driver's version.
const (
	nvmlClockSM     = 1
	nvmlClockMemory = 2

	nvmlTemperatureGPU = 0

	nvmlStringBytes = 96 // NVML_DEVICE_UUID_V2_BUFFER_SIZE, the longest one asked for
)

// nvmlDevice reads the condition of one GPU from the management library. Every
// entry point but those that find the device is optional: an older driver
// lacks some, and a virtual or consumer GPU refuses others. Like the device it
// describes, it belongs to one goroutine.
type nvmlDevice struct {
	path   string
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
	driver, version, uuid                uintptr
	clock, maxClock, temperature, power  uintptr
	clockReasons, utilisation, processes uintptr
	persistence, powerLimit              uintptr
}

// openNVML finds the GPU with the given UUID ("GPU-…" or "MIG-…"). The error is
// an *unavailable.Error when this machine has no NVML or NVML no such device.
func openNVML(uuid string) (*nvmlDevice, error) {
	return openNVMLFrom(nvmlNames(), uuid)
}

// nvmlNames are the library's name and the places that the loader's own search
// misses in containers and under WSL.
func nvmlNames() []string {
	return []string{"libnvidia-ml.so.1",
		"/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}
}

func openNVMLFrom(names []string, uuid string) (*nvmlDevice, error) {
	d, err := startNVML(names)
	if err != nil {
		return nil, err
	}
	byUUID := d.find("nvmlDeviceGetHandleByUUID")
	if byUUID == 0 {
		d.close()
		return nil, unavailable.New("NVML", d.path+" has no symbol nvmlDeviceGetHandleByUUID", "update the NVIDIA driver")
	}
	name := append([]byte(uuid), 0)
	r := callC(byUUID, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&d.out.handle)))
	if r != 0 {
		reason := fmt.Sprintf("no device %s: %s", uuid, d.errorText(r))
		d.close()
		return nil, unavailable.New("NVML", reason, "")
	}
	d.handle = d.out.handle
	return d, nil
}

// startNVML loads and initialises the library, without a device yet.
func startNVML(names []string) (*nvmlDevice, error) {
	lib, path, err := openFirst(names)
	if err != nil {
		return nil, unavailable.New("NVML", err.Error(), "install the NVIDIA driver with its management library (libnvidia-ml.so.1)")
	}
	d := &nvmlDevice{lib: lib, path: loadedPath(path)}
	initialise := d.find("nvmlInit_v2")
	d.symbol = nvmlSymbols{
		shutdown:     d.find("nvmlShutdown"),
		errorString:  d.find("nvmlErrorString"),
		driver:       d.find("nvmlSystemGetDriverVersion"),
		version:      d.find("nvmlSystemGetNVMLVersion"),
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
	if initialise == 0 || d.symbol.shutdown == 0 {
		return nil, unavailable.New("NVML", d.path+" lacks nvmlInit_v2 or nvmlShutdown", "update the NVIDIA driver")
	}
	if r := callC(initialise); r != 0 {
		return nil, unavailable.New("NVML", "nvmlInit_v2: "+d.errorText(r), "load the NVIDIA driver and check the permissions of its devices")
	}
	d.open = true
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
func (d *nvmlDevice) driverVersion() string { return d.systemText(d.symbol.driver) }

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

func (d *nvmlDevice) systemText(fn uintptr) string {
	if !d.readable(fn) {
		return ""
	}
	return d.readText(callC(fn, uintptr(unsafe.Pointer(&d.out.text)), nvmlStringBytes))
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
		if p, err := Dlsym(d.lib, name); err == nil {
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
