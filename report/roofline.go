package report

import (
	"fmt"
	"maps"
	"slices"

	"mage/evidence"
	"mage/roofline"
	"mage/timing"
)

// RooflineResult is one time under the ceilings that were measured of its device.
type RooflineResult struct {
	Case       string `json:"case"`
	Arm        string `json:"arm"`
	Mode       string `json:"mode,omitempty"` // empty: under a profiler
	Cache      string `json:"cache,omitempty"`
	Instrument string `json:"instrument"`
	Kernel     string `json:"kernel,omitempty"` // of a profiler's row
	// TimeUS is that of an operation, or of the kernel; nil: not measured.
	TimeUS    *float64           `json:"time_us,omitempty"`
	Placement roofline.Placement `json:"placement"`
}

// placeUnder places what ran on the device of the roofs: the median of each mode that
// is device time, with what the contract needs at least, and what Nsight Compute
// counted of each kernel.
func (b *builder) placeUnder(roofs roofline.Roofs) error {
	device, err := b.roofed(roofs)
	if err != nil {
		return err
	}
	r := b.report
	r.roofs, r.roofed = roofs, map[string]bool{}
	for _, a := range b.rec.Arms {
		r.roofed[a.ID] = a.Device == device.ID
	}
	for _, c := range r.Cases {
		for _, g := range c.Groups {
			if g.Device != device.ID {
				continue
			}
			for _, x := range g.Cells {
				if k := kind(g.Mode); x.MedianUS == nil || x.Verdict == Impossible || k == timing.Submit || k == timing.Latency {
					continue
				}
				w := roofline.FromContract(roofline.UnitOf(c.Case.Precision), c.Case.FLOPs, float64(c.Case.CompulsoryBytes), float64(written(&c.Case)),
					float64(device.L2Bytes), g.Cache == string(timing.Cold))
				w.TimeUS = &roofline.Amount{Value: *x.MedianUS, From: roofline.Source(g.Instrument)}
				w.Mode, w.Launches = g.Mode, x.Launches
				r.Roofline = append(r.Roofline, RooflineResult{Case: c.Case.ID, Arm: x.Arm, Mode: g.Mode, Cache: g.Cache,
					Instrument: g.Instrument, TimeUS: x.MedianUS, Placement: roofline.Place(w, roofs)})
			}
		}
	}
	for _, c := range r.Captures {
		if !r.roofed[c.Arm] || r.unplaced(&c) != "" {
			continue
		}
		for _, l := range c.Launches {
			if w := counted(l); len(w.Demands) > 0 {
				row := RooflineResult{Case: c.Case, Arm: c.Arm, Instrument: c.Backend, Kernel: l.Kernel, Placement: roofline.Place(w, roofs)}
				if w.TimeUS != nil {
					row.TimeUS = &w.TimeUS.Value
				}
				r.Roofline = append(r.Roofline, row)
			}
		}
	}
	return nil
}

// unplaced says why a capture of an arm that ran under the roofs is not: it is of
// another device. One that does not name its device is of the arm's.
func (r *Report) unplaced(c *evidence.Capture) string {
	d := roofline.Device{Name: c.Device, UUID: c.DeviceUUID}
	if r.roofed == nil || d == (roofline.Device{}) {
		return ""
	}
	if _, err := r.roofs.Of(d); err != nil {
		return "no roofline: " + err.Error()
	}
	return ""
}

// counted is what a profiler counted of a kernel.
func counted(l evidence.Launch) roofline.Work {
	return roofline.FromCounters(func(name string) (float64, string, bool) {
		c, ok := l.Counters[name]
		return c.Value, c.Unit, ok
	}, slices.Sorted(maps.Keys(l.Counters)))
}

// roofed finds the device that the roofs were measured on, or the only one of the
// same model, which the table says.
func (b *builder) roofed(roofs roofline.Roofs) (evidence.Device, error) {
	var alike []evidence.Device
	for _, d := range b.rec.Devices {
		if roofs.UUID != "" && d.UUID == roofs.UUID {
			return d, nil
		}
		if d.Name == roofs.Device {
			alike = append(alike, d)
		}
	}
	if len(alike) == 1 {
		return alike[0], nil
	}
	return evidence.Device{}, fmt.Errorf("the ceilings are of %s (%s), on which nothing of this record ran", roofs.Device, roofs.UUID)
}
