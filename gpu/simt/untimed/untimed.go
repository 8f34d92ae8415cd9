// Package untimed is the timer of a device that measures no time.
package untimed

import (
	"mage/timing"
	"mage/unavailable"
)

// Timer reports every timing mode unavailable.
type Timer struct{}

// Measure runs nothing and returns an *unavailable.Error.
func (Timer) Measure(_ func() error, req timing.Request) (timing.Reading, error) {
	return timing.Reading{}, unavailable.New(req.Mode.String()+" on simt", "the simulator measures no time", "use a machine with an NVIDIA GPU; the simulator counts instead")
}
