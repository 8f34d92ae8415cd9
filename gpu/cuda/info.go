package cuda

import (
	"encoding/hex"
	"fmt"
)

// Device attributes (cuda.h, enum CUdevice_attribute).
const (
	attrMaxThreadsPerBlock  = 1
	attrSharedPerBlock      = 8
	attrClockRate           = 13 // kHz
	attrMultiprocessors     = 16
	attrMemoryClockRate     = 36 // kHz
	attrMemoryBusWidth      = 37 // bits
	attrL2Bytes             = 38
	attrCapabilityMajor     = 75
	attrCapabilityMinor     = 76
	attrSharedPerBlockOptin = 97
)

// describe fills in the device's Info and opens NVML for its state.
func (d *Device) describe() error {
	i := &d.info
	i.Backend = "cuda"
	i.CUDAVersion = formatVersion(d.api.version)
	var name [256]byte
	if err := d.check("cuDeviceGetName", d.api.cuDeviceGetName(&name[0], int32(len(name)), d.ordinal)); err != nil {
		return err
	}
	i.Name = goString(&name[0])
	if d.api.cuDeviceGetUuid != nil {
		var u [16]byte
		if err := d.check("cuDeviceGetUuid", d.api.cuDeviceGetUuid(&u[0], d.ordinal)); err != nil {
			return err
		}
		i.UUID = formatUUID(u)
	}
	var total uint64
	if err := d.check("cuDeviceTotalMem_v2", d.api.cuDeviceTotalMem(&total, d.ordinal)); err != nil {
		return err
	}
	i.MemoryBytes = int64(total)

	var major, minor, clock, memoryClock, busWidth, l2 int
	for _, a := range []struct {
		id  int32
		out *int
	}{
		{attrMaxThreadsPerBlock, &i.MaxThreadsPerBlock},
		{attrSharedPerBlock, &i.SharedPerBlock},
		{attrSharedPerBlockOptin, &i.SharedPerBlockOptin},
		{attrMultiprocessors, &i.Multiprocessors},
		{attrClockRate, &clock},
		{attrMemoryClockRate, &memoryClock},
		{attrMemoryBusWidth, &busWidth},
		{attrL2Bytes, &l2},
		{attrCapabilityMajor, &major},
		{attrCapabilityMinor, &minor},
	} {
		var v int32
		if err := d.check("cuDeviceGetAttribute", d.api.cuDeviceGetAttribute(&v, a.id, d.ordinal)); err != nil {
			return fmt.Errorf("attribute %d: %w", a.id, err)
		}
		*a.out = int(v)
	}
	i.ComputeCapability = fmt.Sprintf("%d.%d", major, minor)
	i.L2Bytes = int64(l2)
	i.MaxSMClockMHz = float64(clock) / 1000

	if d.nvml, d.nvmlErr = openNVML(i.UUID); d.nvmlErr == nil {
		i.DriverVersion = d.nvml.driverVersion()
		i.PowerLimitW = d.nvml.powerLimitW()
		i.PersistenceMode = d.nvml.persistenceMode()
		// The attribute is a typical clock on some devices; the bound is the larger.
		if mhz, ok := d.nvml.maxSMClockMHz(); ok {
			i.MaxSMClockMHz = max(i.MaxSMClockMHz, float64(mhz))
		}
	}
	// Two transfers per memory clock: double data rate.
	i.PeakBandwidth = 2 * float64(memoryClock) * 1e3 * float64(busWidth) / 8
	i.PeakFP32 = float64(i.Multiprocessors) * float64(fp32PerSM(major, minor)) * 2 * i.MaxSMClockMHz * 1e6
	return nil
}

// fp32PerSM returns the 32-bit floating-point additions, multiplications or
// multiply-adds that one multiprocessor completes per clock: CUDA C++
// Programming Guide, "Throughput of Native Arithmetic Instructions". It returns
// 0 for a capability that the table does not hold.
func fp32PerSM(major, minor int) int {
	switch major {
	case 5, 9, 10, 12:
		return 128
	case 6:
		if minor == 0 {
			return 64
		}
		return 128
	case 7:
		return 64
	case 8:
		if minor == 0 {
			return 64
		}
		return 128
	}
	return 0
}

// formatUUID writes a device's UUID as nvidia-smi does.
func formatUUID(u [16]byte) string {
	h := hex.EncodeToString(u[:])
	return "GPU-" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
