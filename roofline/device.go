package roofline

import "fmt"

// Device names a GPU; either may be empty where it is not known.
type Device struct{ Name, UUID string }

// String is "NVIDIA H200 (GPU-…)".
func (d Device) String() string {
	switch {
	case d.Name == "" && d.UUID == "":
		return "an unknown device"
	case d.UUID == "":
		return d.Name
	case d.Name == "":
		return d.UUID
	}
	return d.Name + " (" + d.UUID + ")"
}

// OtherDevice says that roofs are not those of the device that something ran on.
type OtherDevice struct{ Roofs, Ran Device }

func (e *OtherDevice) Error() string {
	if e.Ran == (Device{}) {
		return fmt.Sprintf("the ceilings are of %v, and which device ran the kernels is not known", e.Roofs)
	}
	return fmt.Sprintf("the ceilings are of %v, and the kernels ran on %v", e.Roofs, e.Ran)
}

// Of checks that the roofs may stand over what ran on d: they are of that device, or
// of the same model, and then same is false and a reader must be told. The error is
// an *OtherDevice.
func (r Roofs) Of(d Device) (same bool, err error) {
	switch {
	case r.UUID != "" && r.UUID == d.UUID:
		return true, nil
	case r.Device != "" && r.Device == d.Name:
		return false, nil
	}
	return false, &OtherDevice{Device{r.Device, r.UUID}, d}
}
