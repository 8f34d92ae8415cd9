package experiment

import (
	"fmt"
	"slices"
	"sort"

	"mage/gpu"
)

// Limits of a quiet round. They are generous: a label costs a repetition, and
// the statistics see the remaining noise anyway.
const (
	clockDrift = 0.05 // relative change of the SM clock within or between cells
	stealLimit = 5.0  // percent of processor time taken by the hypervisor
)

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
