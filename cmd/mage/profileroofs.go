package main

import (
	"fmt"

	"mage/capture"
	"mage/ceiling"
	"mage/report/profile"
	"mage/roofline"
	"mage/unavailable"
)

// ceilings reads the file that was asked for, before minutes of profiling.
func (f captureFlags) ceilings() (*roofline.Roofs, error) {
	if f.Ceilings == "" {
		return nil, nil
	}
	if !f.Analyze {
		return nil, &exitError{exitUsage, "--ceilings is for --analyze"}
	}
	return loadRoofs(f.Ceilings)
}

func loadRoofs(path string) (*roofline.Roofs, error) {
	file, err := ceiling.Load(path)
	if err != nil {
		return nil, err
	}
	roofs := file.Roofs()
	return &roofs, nil
}

// under chooses the ceilings for an analysis: those given, or what was measured last
// on the device that ran the kernels. It returns an error if those given are not of
// that device's model.
func (f captureFlags) under(c *capture.Capture, given *roofline.Roofs, o *profile.Options) error {
	if !f.Analyze {
		return nil
	}
	ran := roofline.Device{Name: c.Device, UUID: c.UUID}
	if given != nil {
		if _, err := given.Of(ran); err != nil {
			o.Unroofed = err.Error()
			return fmt.Errorf("%s: %w", relative(f.Ceilings), err)
		}
		o.Roofs = given
		return nil
	}
	o.Roofs, o.Unroofed = keptRoofs(ran)
	return nil
}

// keptRoofs are the ceilings that were last measured on a device, or why there are
// none.
func keptRoofs(d roofline.Device) (*roofline.Roofs, string) {
	if d.UUID == "" {
		return nil, "which GPU ran the kernels is not known; --ceilings FILE gives ceilings that mage doctor --ceilings --output FILE measured"
	}
	file, err := ceiling.Kept(d.UUID)
	if lacking, ok := unavailable.As(err); ok {
		return nil, fmt.Sprintf("%s: %s", lacking.Reason, lacking.Remedy)
	}
	if err != nil {
		return nil, err.Error()
	}
	roofs := file.Roofs()
	if _, err := roofs.Of(d); err != nil {
		return nil, err.Error()
	}
	return &roofs, ""
}
