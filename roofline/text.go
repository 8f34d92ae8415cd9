package roofline

import (
	"fmt"
	"strings"
)

// String is one line: "memory: 3.91 of 4.17 TB/s (94 % of dram-copy), 1.25 FLOP/B".
func (p Placement) String() string {
	var s strings.Builder
	if p.Binds == "" {
		s.WriteString("unknown")
	} else {
		s.WriteString(p.Binds.Class() + ": ")
		for _, sh := range p.Shares {
			if sh.Roof != p.Roof {
				continue
			}
			switch {
			case sh.Fraction == nil:
				fmt.Fprintf(&s, "%.3g µs at least by %s, time unknown", sh.BoundUS, sh.Roof)
			case sh.Resource == Launch:
				fmt.Fprintf(&s, "%.3g µs of launches (%s of the time, %s)", sh.BoundUS, percent(*sh.Fraction), sh.Roof)
			default:
				attained, ceiling := rates(*sh.Attained, sh.Ceiling, sh.Resource)
				fmt.Fprintf(&s, "%s of %s (%s of %s)", attained, ceiling, percent(*sh.Fraction), sh.Roof)
			}
			break
		}
	}
	if p.Intensity != nil {
		fmt.Fprintf(&s, ", %s FLOP/B", significant(*p.Intensity))
	}
	for _, u := range p.Unknown {
		s.WriteString("; " + u)
	}
	for _, n := range p.Notes {
		s.WriteString("; " + n)
	}
	return s.String()
}

// rates writes both in the unit of the second, which is all that the first lacks.
func rates(attained, ceiling float64, r Resource) (string, string) {
	unit := "B/s"
	if r.Arithmetic() {
		unit = "FLOP/s"
	}
	x := ceiling
	for _, prefix := range []string{"", "k", "M", "G"} {
		if x < 1000 {
			return fmt.Sprintf("%.3g", attained/ceiling*x), fmt.Sprintf("%.3g %s%s", x, prefix, unit)
		}
		x /= 1000
	}
	return fmt.Sprintf("%.3g", attained/ceiling*x), fmt.Sprintf("%.3g T%s", x, unit)
}

// significant has three digits, and no exponent where there are more.
func significant(x float64) string {
	if x >= 999.5 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func percent(f float64) string { return fmt.Sprintf("%.3g %%", 100*f) }

// DRAMRate is the bytes per second that were attained from and to DRAM; nil if unknown.
func (p Placement) DRAMRate() *float64 {
	for _, s := range p.Shares {
		if s.Resource == DRAM {
			return s.Attained
		}
	}
	return nil
}
