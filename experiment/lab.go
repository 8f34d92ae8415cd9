package experiment

import (
	"slices"
	"strings"

	"mage/evidence"
	"mage/impl"
	"mage/timing"
	"mage/unavailable"
)

// Lab is what a run needs of the machine: opened devices and the
// implementations that live on them.
type Lab struct {
	Tool            evidence.Tool
	Host            evidence.Host
	Devices         []evidence.Device
	Implementations []impl.Implementation
	// Lacking maps an implementation's name to the reason this machine cannot
	// offer it. A name in neither list is an error in the spec.
	Lacking map[string]*unavailable.Error
	// Versions of what takes part: "nvrtc", "cupti", "go".
	Versions map[string]string
	// Notices are lacks of the machine as a whole: "CUPTI".
	Notices []*unavailable.Error
	// Untimed holds, by id, the devices that measure no time: each of their arms is
	// executed and judged once a case, without rounds and without a control.
	Untimed map[string]*Untimed
	// Calibrate measures the instruments of the device with this id.
	Calibrate func(device string) (timing.Calibration, error)
}

// find returns the implementation with this name, over the launch path that
// "name@path" asks for, else over the first that is offered.
func (l *Lab) find(name string) impl.Implementation {
	name, path, asked := strings.Cut(name, "@")
	for _, i := range l.Implementations {
		if i.Name() == name && (!asked || i.LaunchPath() == path) {
			return i
		}
	}
	return nil
}

// lacking returns the reason why this machine cannot offer a known name.
func (l *Lab) lacking(name string) *unavailable.Error {
	if e := l.Lacking[name]; e != nil {
		return e
	}
	name, _, _ = strings.Cut(name, "@")
	return l.Lacking[name]
}

// names lists every implementation that this version knows, available or not; in
// one order, because the first of two that are as near is the one suggested.
func (l *Lab) names() []string {
	var out []string
	for _, i := range l.Implementations {
		out = append(out, i.Name(), i.Name()+"@"+i.LaunchPath())
	}
	for n := range l.Lacking {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// unknownPath stands for the launch path of an implementation that is lacking.
const unknownPath = "unavailable"

func unavailableRecord(e *unavailable.Error) *evidence.Unavailable {
	return &evidence.Unavailable{What: e.What, Reason: e.Reason, Remedy: e.Remedy}
}
