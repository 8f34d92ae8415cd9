package experiment

import (
	"slices"

	"mage/gpu"
)

// clockHistory remembers the SM clocks of quiet cells.
type clockHistory struct{ mhz []int }

func (h *clockHistory) add(s gpu.State) {
	if s.SMClockMHz == nil {
		return
	}
	if h.mhz = append(h.mhz, *s.SMClockMHz); len(h.mhz) > 31 {
		h.mhz = h.mhz[1:]
	}
}

// usual is the median clock, 0 before there are enough readings to say.
func (h *clockHistory) usual() int {
	if h == nil || len(h.mhz) < 5 {
		return 0
	}
	return medianInt(h.mhz)
}

func medianInt(v []int) int {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[(len(s)-1)/2]
}
