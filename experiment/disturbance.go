package experiment

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"mage/gpu"
)

// Limits of a quiet round. They are generous: a label costs a repetition, and
// the statistics see the remaining noise anyway.
const (
	clockDrift = 0.05 // relative change of the SM clock within or between cells
	stealLimit = 5.0  // percent of processor time taken by the hypervisor
)

// Limits of waiting for a device that long kernels have brought to its power
// limit. Slowed clocks would spoil the cells that follow: cells are short, and
// what one of them draws is gone after a second, by which the driver averages.
const (
	restPower = 0.75 // of the power limit: below it the next cell has room
	restStep  = 50 * time.Millisecond
	restLimit = 3 * time.Second
)

// rested reads an arm's device, after a rest if it is slowed or near its power
// limit. A device that does not recover is measured, the cell labelled, and none
// waits for it again before it has. A state that can't be read is an empty one;
// doctor says why.
func (r *runner) rested(a arm) gpu.State {
	for waited := time.Duration(0); ; waited += restStep {
		s, _ := a.impl.State()
		if !tired(s, r.powerLimit(a.Device)) {
			delete(r.tired, a.Device)
			return s
		}
		if r.tired[a.Device] || waited >= restLimit {
			r.tired[a.Device] = true
			return s
		}
		r.sleep(restStep)
	}
}

func tired(s gpu.State, limit *float64) bool {
	return len(s.Throttle) > 0 || limit != nil && s.PowerW != nil && *s.PowerW > restPower**limit
}

func (r *runner) powerLimit(device string) *float64 {
	for _, d := range r.lab.Devices {
		if d.ID == device {
			return d.PowerLimitW
		}
	}
	return nil
}

// disturbances says what in the device's state makes a cell's samples doubtful.
// usual is the SM clock of earlier quiet cells in the session, 0 if unknown;
// company is the number of other processes when the session began.
func disturbances(before, after gpu.State, usual int, company int) []string {
	var out []string
	for _, s := range []gpu.State{before, after} {
		for _, t := range s.Throttle {
			out = append(out, "throttled: "+t)
		}
		if s.OtherProcesses != nil && *s.OtherProcesses > company {
			out = append(out, fmt.Sprintf("other processes on the device: %d", *s.OtherProcesses))
		}
	}
	if after.SMClockMHz != nil {
		now := *after.SMClockMHz
		if before.SMClockMHz != nil && moved(*before.SMClockMHz, now) {
			out = append(out, fmt.Sprintf("clock drift: %d to %d MHz", *before.SMClockMHz, now))
		} else if usual > 0 && moved(usual, now) {
			out = append(out, fmt.Sprintf("clock drift: %d MHz, %d before", now, usual))
		}
	}
	if after.StealPct != nil && *after.StealPct > stealLimit {
		out = append(out, fmt.Sprintf("steal: %.0f %% of processor time", *after.StealPct))
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func moved(from, to int) bool {
	d := float64(to - from)
	if d < 0 {
		d = -d
	}
	return d > clockDrift*float64(from)
}
