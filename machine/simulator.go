package machine

import (
	"context"
	"fmt"
	"time"

	"mage/evidence"
	"mage/experiment"
	"mage/gpu/cuda"
	"mage/gpu/simt"
	"mage/gpu/simt/untimed"
	"mage/impl/native"
	"mage/kernels"
	"mage/unavailable"
)

// simulatorID names the simulated device in records.
const simulatorID = "simt:0"

// maxSimulatedFLOPs is the arithmetic of the largest case that is executed on the
// simulator: a matmul of 2048³, which takes minutes on a small machine.
const maxSimulatedFLOPs = 2e10

// openSimulator opens a simulated device and, on it, the implementations that a
// GPU would run. Without NVRTC they run from the PTX beside their sources; one
// that has none is unavailable and says so itself.
func (m *Machine) openSimulator(ctx context.Context, ks []kernels.Kernel) error {
	dev, err := simt.Open(simt.Options{MemoryBytes: simulatedBytes(m.Host.MemoryBytes)})
	if err != nil {
		return err
	}
	// Everything queued has been waited for, and what went wrong in it been told.
	m.closers = append(m.closers, dev.Close)
	context.AfterFunc(ctx, dev.Stop)
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	opt := native.Options{Device: dev, Stream: stream, Timer: untimed.Timer{}, DeviceID: simulatorID}
	compiler, err := cuda.OpenNVRTC(cuda.DefaultOptions().NVRTCPath)
	if _, lacking := unavailable.As(err); err != nil && !lacking {
		return err
	}
	if err == nil {
		opt.Compiler = compiler
		m.Versions["nvrtc"] = compiler.Version()
	}
	natives, err := native.New(opt, ks)
	if err != nil {
		return err
	}
	m.Implementations = append(m.Implementations, natives...)
	m.Devices = append(m.Devices, evidence.Device{ID: simulatorID, Info: dev.Info()})
	m.Untimed = map[string]*experiment.Untimed{simulatorID: {
		Reason: unavailable.New("times on "+simulatorID, "the simulator measures no time; it counts, exactly, and checks",
			"use a machine with an NVIDIA GPU"),
		MaxFLOPs: maxSimulatedFLOPs,
		Progress: func() string { return describe(dev.Progress()) },
	}}
	return nil
}

// describe says how far a launch has come, "" between launches.
func describe(p simt.Progress, running bool) string {
	if !running {
		return ""
	}
	s := fmt.Sprintf("%s: %d of %d blocks, %.3g M warp instructions", p.Kernel, p.Done, p.Blocks, float64(p.Instructions)/1e6)
	if p.Done > 0 {
		left := time.Since(p.Since) * time.Duration(p.Blocks-p.Done) / time.Duration(p.Done)
		s += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return s
}

// simulatedBytes is the memory of the simulated device on a host: every simulated
// byte costs two or three of it. 0, where it is not known, leaves the default.
func simulatedBytes(host int64) int64 { return min(host/4, 16<<30) }
