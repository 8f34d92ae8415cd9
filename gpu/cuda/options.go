package cuda

import (
	"fmt"
	"os"

	"mage/unavailable"
)

// Options says where the NVIDIA libraries are. The zero value searches the
// places that a driver and a toolkit are installed to.
type Options struct {
	// DriverPath is the libcuda to load instead of the system's.
	DriverPath string
	// NVRTCPath is an NVRTC library, or a directory that holds one.
	NVRTCPath string
}

// DefaultOptions returns the options that the environment asks for with
// MAGE_LIBCUDA and MAGE_NVRTC.
func DefaultOptions() Options {
	return Options{DriverPath: os.Getenv("MAGE_LIBCUDA"), NVRTCPath: os.Getenv("MAGE_NVRTC")}
}

// Open opens the GPU with the given ordinal, with the default options.
func Open(ordinal int) (*Device, error) { return DefaultOptions().Open(ordinal) }

// Count returns the number of GPUs that the driver offers, with the default options.
func Count() (int, error) { return DefaultOptions().Count() }

// DriverVersion returns the CUDA version of the driver, such as "13.0", with
// the default options.
func DriverVersion() (string, error) { return DefaultOptions().DriverVersion() }

// Count returns the number of GPUs that the driver offers. Without a driver or
// without a GPU it returns an *unavailable.Error.
func (o Options) Count() (int, error) {
	d, err := o.start()
	if err != nil {
		return 0, err
	}
	return d.count()
}

// DriverVersion returns the highest CUDA version that the driver supports, such
// as "13.0". It needs a driver but no GPU.
func (o Options) DriverVersion() (string, error) {
	d, err := loadDriver(o.DriverPath)
	if err != nil {
		return "", err
	}
	return formatVersion(d.version), nil
}

// DriverLibrary returns the name or path that the driver library was loaded by.
func (o Options) DriverLibrary() (string, error) {
	d, err := loadDriver(o.DriverPath)
	if err != nil {
		return "", err
	}
	return d.path, nil
}

// start loads and initializes the driver.
func (o Options) start() (*driver, error) {
	d, err := loadDriver(o.DriverPath)
	if err != nil {
		return nil, err
	}
	if code := d.cuInit(0); code != 0 {
		return nil, d.unusable("cuInit", code)
	}
	return d, nil
}

// count returns the number of devices, at least one.
func (d *driver) count() (int, error) {
	var n int32
	if code := d.cuDeviceGetCount(&n); code != 0 {
		return 0, d.unusable("cuDeviceGetCount", code)
	}
	if n == 0 {
		return 0, unavailable.New("a CUDA GPU", "the driver reports no device",
			"check nvidia-smi and CUDA_VISIBLE_DEVICES")
	}
	return int(n), nil
}

// unusable turns a failure of the driver's own set-up into the reason why the
// machine has no usable GPU. After a fault the driver refuses a whole process: the
// machine has a GPU then, and the error stays what it is.
func (d *driver) unusable(call string, code int32) error {
	e := d.newError(call, code)
	if e.Sticky {
		e.Detail = "earlier work of this process faulted: only a new process can use the GPU"
		return e
	}
	reason := fmt.Sprintf("%s: %s (%s)", call, e.Name, e.Message)
	remedy := "check nvidia-smi: the driver is loaded but does not start"
	switch ErrorCode(code) {
	case ErrNoDevice:
		remedy = "check nvidia-smi and CUDA_VISIBLE_DEVICES"
	case ErrStubLibrary:
		remedy = "this libcuda is the toolkit's link-time stub: install the NVIDIA driver, and take the stubs directory out of the library path"
	case ErrSystemDriverMismatch:
		remedy = "libcuda and the kernel module are of different driver versions: reboot, or reinstall the driver"
	case ErrDeviceUnavailable:
		remedy = "another process holds the GPU in exclusive mode: end it, or set the compute mode to default"
	}
	return unavailable.New("a CUDA GPU", reason, remedy)
}

// formatVersion writes 13000 as "13.0" and 12040 as "12.4".
func formatVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
