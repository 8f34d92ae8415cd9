package cuda

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"mage/gpu"
)

// nvmlProcess is nvmlProcessInfo_v2_t (the _v3 call fills the same structure).
type nvmlProcess struct {
	pid       uint32
	_         uint32
	usedBytes uint64
	_         [2]uint32 // GPU instance and compute instance
}

// nvmlMaxProcesses bounds the list of processes read; a longer one is unknown.
const nvmlMaxProcesses = 256

// Clock event reasons that slow the clocks, from nvml.h. Missing on purpose: 0x1,
// the GPU is idle, and 0x2, the clocks the user asked for; neither is throttling.
var clockReasonNames = [...]struct {
	bit  uint64
	name string
}{
	{0x4, "sw-power-cap"},
	{0x8, "hw-slowdown"},
	{0x10, "sync-boost"},
	{0x20, "sw-thermal"},
	{0x40, "hw-thermal"},
	{0x80, "hw-power-brake"},
	{0x100, "display-clock"},
}

const clockReasonsHarmless = 0x1 | 0x2

// state reads the device's condition; each reading the device does not offer is
// nil. Throttle is nil when the reasons cannot be read and empty when there are
// none. Power is what NVML gives: on most data-centre GPUs the mean over the last
// second, not an instant; utilisation likewise covers NVML's own sampling period.
func (d *nvmlDevice) state() (gpu.State, error) {
	if d == nil || !d.open {
		return gpu.State{}, errors.New("reading the device state: NVML is closed")
	}
	return gpu.State{
		SMClockMHz:     d.readInt(d.symbol.clock, nvmlClockSM),
		MemoryClockMHz: d.readInt(d.symbol.clock, nvmlClockMemory),
		TemperatureC:   d.readInt(d.symbol.temperature, nvmlTemperatureGPU),
		PowerW:         milliwatts(d.readInt(d.symbol.power)),
		UtilisationPct: d.readInt(d.symbol.utilisation), // the first of two: gpu, memory
		Throttle:       d.throttle(),
		OtherProcesses: d.otherProcesses(uint32(os.Getpid())),
	}, nil
}

func (d *nvmlDevice) throttle() []string {
	if !d.readable(d.symbol.clockReasons) {
		return nil
	}
	if callC(d.symbol.clockReasons, d.handle, uintptr(unsafe.Pointer(&d.out.u64))) != 0 {
		return nil
	}
	return throttleNames(d.out.u64)
}

// throttleNames decodes a bit mask of clock event reasons. A bit of a newer
// driver keeps its number rather than disappearing.
func throttleNames(reasons uint64) []string {
	names := []string{}
	reasons &^= clockReasonsHarmless
	for _, r := range clockReasonNames {
		if reasons&r.bit != 0 {
			names = append(names, r.name)
		}
		reasons &^= r.bit
	}
	if reasons != 0 {
		names = append(names, fmt.Sprintf("unknown-0x%x", reasons))
	}
	return names
}

// otherProcesses counts the processes with a compute context on the device, less
// this one, which has pid self.
//
// This process holds a context when it asks, so it must be in the list. Where it
// is not, NVML numbers processes by another namespace or hides them (containers,
// gVisor), and the list says nothing about the others: the answer is nil, not a
// guess. Where a container sees only itself, the count is of the container: a
// process outside shows in utilisation and clocks only.
func (d *nvmlDevice) otherProcesses(self uint32) *int {
	if !d.readable(d.symbol.processes) {
		return nil
	}
	d.out.u32[0] = nvmlMaxProcesses
	r := callC(d.symbol.processes, d.handle, uintptr(unsafe.Pointer(&d.out.u32)), uintptr(unsafe.Pointer(&d.out.procs)))
	n := int(d.out.u32[0])
	if r != 0 || n > nvmlMaxProcesses {
		return nil
	}
	return countOthers(d.out.procs[:n], self)
}

// countOthers counts distinct processes other than self, or returns nil when
// self is not among them. One process appears once per MIG instance it uses.
func countOthers(procs []nvmlProcess, self uint32) *int {
	seen := make(map[uint32]bool, len(procs))
	for _, p := range procs {
		seen[p.pid] = true
	}
	if !seen[self] {
		return nil
	}
	n := len(seen) - 1
	return &n
}

func milliwatts(v *int) *float64 {
	if v == nil {
		return nil
	}
	w := float64(*v) / 1000
	return &w
}
