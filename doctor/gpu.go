package doctor

import (
	"context"
	"fmt"
	"os"
	"regexp"

	"mage/gpu/cuda"
)

// driver finds the NVIDIA driver: its CUDA version from libcuda, its own from
// NVML or, without NVML, from the kernel module.
func (o Options) driver(ctx context.Context, report func(Finding)) {
	const item = "NVIDIA driver"
	supports, err := o.CUDA.DriverVersion()
	if err != nil {
		report(missing(item, err))
		return
	}
	f := Finding{Item: item, Available: true, Detail: "supports CUDA " + supports}
	if _, own, err := cuda.ProbeNVML(); err == nil {
		f.Version = own
	}
	if f.Version == "" {
		f.Version = moduleVersion("/proc/driver/nvidia/version")
	}
	if path, err := o.CUDA.DriverLibrary(); err == nil {
		f.Path = path
	}
	report(f)
}

var moduleNumber = regexp.MustCompile(`\s([0-9]+\.[0-9]+(?:\.[0-9]+)?)\s`)

// moduleVersion reads the version that the NVIDIA kernel module writes, empty if
// there is none.
func moduleVersion(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if m := moduleNumber.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// devices opens every device, which proves that a context can be made on it.
func (o Options) devices(ctx context.Context, report func(Finding)) {
	n, err := o.CUDA.Count()
	if err != nil {
		report(missing("devices", err))
		return
	}
	for i := range n {
		if ctx.Err() != nil {
			return
		}
		report(o.device(i))
	}
}

func (o Options) device(ordinal int) Finding {
	item := fmt.Sprintf("device %d", ordinal)
	d, err := o.CUDA.Open(ordinal)
	if err != nil {
		return missing(item, err)
	}
	info := d.Info()
	if err := d.Close(); err != nil {
		return missing(item, err)
	}
	return Finding{
		Item: item, Available: true,
		Detail: fmt.Sprintf("%s, compute capability %s, %.0f GiB, %d multiprocessors, %s",
			info.Name, info.ComputeCapability, float64(info.MemoryBytes)/(1<<30), info.Multiprocessors, info.UUID),
	}
}
