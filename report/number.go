package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decimals returns how many digits after the point a value deserves whose
// uncertainty (half the width of its interval) is u: two digits of u when they
// start with 1, 2 or 3, otherwise one (the rule of the Particle Data Group). An
// unknown or zero u gives four significant digits. At most five significant
// digits are ever shown.
func decimals(value, u float64) int {
	magnitude := exponent(value)
	most := 4 - magnitude
	if !(u > 0) || math.IsInf(u, 0) {
		return clamp(3-magnitude, 0, 9)
	}
	e := exponent(u)
	d := -e
	if u/math.Pow(10, float64(e)) < 3.55 {
		d++
	}
	return clamp(min(d, most), 0, 9)
}

// exponent is the power of ten of x's first digit, 0 for 0.
func exponent(x float64) int {
	x = math.Abs(x)
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return int(math.Floor(math.Log10(x)))
}

func clamp(x, lo, hi int) int { return max(lo, min(x, hi)) }

func fixed(x float64, d int) string { return strconv.FormatFloat(x, 'f', d, 64) }

// significant writes x with n significant digits and no exponent.
func significant(x float64, n int) string {
	return fixed(x, clamp(n-1-exponent(x), 0, 12))
}

// timeUnit is a unit of time and how many of it make a microsecond.
type timeUnit struct {
	name  string
	perUS float64
}

var timeUnits = [...]timeUnit{{"ns", 1e3}, {"µs", 1}, {"ms", 1e-3}, {"s", 1e-6}}

// unitFor returns the largest unit in which us is at least one.
func unitFor(us float64) timeUnit {
	for i := len(timeUnits) - 1; i > 0; i-- {
		if us*timeUnits[i].perUS >= 1 {
			return timeUnits[i]
		}
	}
	return timeUnits[0]
}

// commonUnit returns one unit for all of the times when none would need more
// than three digits before the point in it, otherwise false.
func commonUnit(us []float64) (timeUnit, bool) {
	if len(us) == 0 {
		return timeUnits[1], false
	}
	lo, hi := math.Inf(1), 0.0
	for _, x := range us {
		lo, hi = min(lo, x), max(hi, x)
	}
	u := unitFor(lo)
	return u, hi*u.perUS < 1000
}

// timeDecimals returns the digits after the point that a time and its interval
// deserve in unit u.
func timeDecimals(us float64, low, high *float64, u timeUnit) int {
	if low == nil || high == nil {
		return decimals(us*u.perUS, 0)
	}
	return decimals(us*u.perUS, (*high-*low)/2*u.perUS)
}

// timeText writes a time and its interval in unit u with d digits after the
// point. Units take two characters, so that they stand below each other.
func timeText(us float64, low, high *float64, u timeUnit, d int) (value, interval string) {
	value = fmt.Sprintf("%s %-2s", fixed(us*u.perUS, d), u.name)
	if low != nil && high != nil {
		interval = fixed(*low*u.perUS, d) + "–" + fixed(*high*u.perUS, d)
	}
	return value, interval
}

// ratioDecimals returns the digits after the point that a ratio deserves: two to
// four.
func ratioDecimals(r float64, low, high *float64) int {
	if low == nil || high == nil {
		return clamp(2-exponent(r), 0, 4)
	}
	d := min(4, decimals(r, (*high-*low)/2))
	if r < 10 {
		d = max(d, 2)
	}
	return d
}

// ratioText writes a ratio and its interval with d digits after the point.
func ratioText(r float64, low, high *float64, d int) (value, interval string) {
	if low != nil && high != nil {
		interval = fixed(*low, d) + "–" + fixed(*high, d)
	}
	return fixed(r, d), interval
}

// pText writes a p-value.
func pText(p float64) string {
	switch {
	case p < 0.001:
		return "<0.001"
	case p < 0.1:
		return fixed(p, 3)
	}
	return fixed(p, 2)
}

// percent writes a fraction as a percentage with enough digits to be told from
// zero.
func percent(f float64) string {
	x := f * 100
	if x == 0 {
		return "0 %"
	}
	if math.Abs(x) >= 100 {
		return fixed(x, 0) + " %"
	}
	return significant(x, 2) + " %"
}

// rateText writes a rate with three significant digits, whole above 100.
func rateText(x float64) string { return significant(x, 3) }

// bytesText writes a count of bytes in decimal units.
func bytesText(n int64) string {
	x := float64(n)
	for _, u := range []string{"B", "kB", "MB", "GB"} {
		if x < 1000 {
			if u == "B" {
				return fmt.Sprintf("%d B", n)
			}
			return significant(x, 3) + " " + u
		}
		x /= 1000
	}
	return significant(x, 3) + " TB"
}

// countText writes a large count with a decimal prefix: "4.72 MFLOP".
func countText(x float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for x >= 1000 && i < len(prefixes)-1 {
		x /= 1000
		i++
	}
	if i == 0 {
		return fixed(x, 0) + " " + unit
	}
	return significant(x, 3) + " " + prefixes[i] + unit
}

// superscript writes footnote numbers: "¹ ³".
func superscript(marks []int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	parts := make([]string, len(marks))
	for i, m := range marks {
		parts[i] = strings.Map(func(r rune) rune { return digits[r-'0'] }, strconv.Itoa(m))
	}
	return strings.Join(parts, " ")
}

// alignDecimals pads numbers so that their points stand below each other.
func alignDecimals(texts []string) []string { return alignAt(texts, ".") }

// alignRanges pads ranges so that their dashes stand below each other.
func alignRanges(texts []string) []string { return alignAt(texts, "–") }

// alignAt pads texts so that the first sep, or where it would follow, stands in
// one column. A text without a digit is put at the right.
func alignAt(texts []string, sep string) []string {
	var left, right int
	for _, t := range texts {
		if a, b, ok := split(t, sep); ok {
			left = max(left, utf8.RuneCountInString(a))
			right = max(right, utf8.RuneCountInString(b))
		}
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		a, b, ok := split(t, sep)
		if !ok {
			out[i] = strings.Repeat(" ", max(0, left+right-utf8.RuneCountInString(t))) + t
			continue
		}
		out[i] = strings.Repeat(" ", left-utf8.RuneCountInString(a)) + a + b +
			strings.Repeat(" ", right-utf8.RuneCountInString(b))
	}
	return out
}

// split parts t before sep; ok means that t holds a number.
func split(t, sep string) (before, after string, ok bool) {
	if !strings.ContainsAny(t, "0123456789") {
		return "", "", false
	}
	i := strings.Index(t, sep)
	if i < 0 {
		i = len(t)
	}
	return t[:i], t[i:], true
}
