package ceiling

import (
	_ "embed"
	"errors"
	"fmt"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/unavailable"
)

// image is a module of kernels, by the devices that accept it.
type image struct {
	name  string
	text  []byte
	needs string // in words
	runs  func(major, minor int) bool
}

//go:embed kernels/general.ptx
var generalPTX []byte

//go:embed kernels/matrix.ptx
var matrixPTX []byte

//go:embed kernels/warpgroup.ptx
var warpgroupPTX []byte

func images() (general, matrix, warpgroup image) {
	general = image{"general", generalPTX, "7.5 or later", func(major, minor int) bool { return 10*major+minor >= 75 }}
	matrix = image{"matrix", matrixPTX, "8.0 or later", func(major, _ int) bool { return major >= 8 }}
	warpgroup = image{"warpgroup", warpgroupPTX, "9.0", func(major, minor int) bool { return major == 9 && minor == 0 }}
	return
}

// load returns the module of an image, or an *unavailable.Error.
func (l *lab) load(i image) (gpu.Module, error) {
	if m, ok := l.modules[i.name]; ok {
		return m, nil
	}
	info := l.dev.Info()
	var major, minor int
	if _, err := fmt.Sscanf(info.ComputeCapability, "%d.%d", &major, &minor); err != nil || !i.runs(major, minor) {
		return nil, unavailable.Newf(i.name, "the instructions need compute capability %s, this device has %s", i.needs, info.ComputeCapability)
	}
	if i.name == "warpgroup" && info.Backend == "simt" {
		return nil, unavailable.New(i.name, "the simulator does not know wgmma", "")
	}
	m, err := l.dev.Load(i.text)
	if errors.Is(err, cuda.ErrUnsupportedPTX) || errors.Is(err, cuda.ErrNoBinaryForGPU) {
		return nil, unavailable.New(i.name, err.Error(), "update the driver")
	}
	if err != nil {
		return nil, fmt.Errorf("loading %s.ptx: %w", i.name, err)
	}
	l.modules[i.name] = m
	return m, nil
}
