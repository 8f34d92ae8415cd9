package ancestor

import (
	"encoding/csv"
	"strconv"
	"strings"

	"mage/gpu"
)

// smi reads what nvidia-smi --format=csv printed: a line of names and a line of
// values. ok is false when it is something else.
func smi(text string) (state gpu.State, driver string, ok bool) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	lines, err := r.ReadAll()
	if err != nil || len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return state, "", false
	}
	for i, name := range lines[0] {
		name, _, _ = strings.Cut(name, " ")
		value := lines[1][i]
		first, _, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(first)
		switch {
		case name == "driver_version":
			driver = value
		case err != nil: // "[N/A]": not offered
		case name == "temperature.gpu":
			state.TemperatureC = &n
		case name == "clocks.current.sm":
			state.SMClockMHz = &n
		case name == "clocks.current.memory":
			state.MemoryClockMHz = &n
		case name == "utilization.gpu":
			state.UtilisationPct = &n
		}
	}
	return state, driver, true
}
