package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// count writes a whole number with a decimal prefix: "786", "1.57 M".
func count(x float64) string {
	prefixes := []string{"", " k", " M", " G", " T", " P"}
	i := 0
	for math.Abs(x) >= 10000 && i < len(prefixes)-1 || i > 0 && math.Abs(x) >= 1000 && i < len(prefixes)-1 {
		x /= 1000
		i++
	}
	if i == 0 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return digits(x) + prefixes[i]
}

// size writes a number of bytes.
func size(x float64) string {
	s := count(x)
	if !strings.Contains(s, " ") {
		s += " "
	}
	return s + "B"
}

// digits writes a number with three significant digits, a whole one as it is.
func digits(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e4 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	d := 2
	if a := math.Abs(x); a >= 100 {
		d = 0
	} else if a >= 10 {
		d = 1
	} else if a < 0.1 && a > 0 {
		d = 3
	}
	return strconv.FormatFloat(x, 'f', d, 64)
}

// percent writes a share; what is not all is never shown as 100 %, nor what is
// something as 0 %.
func percent(x float64) string {
	switch {
	case x == 0 || x == 1:
		return fmt.Sprintf("%.0f %%", 100*x)
	case x > 0.995 && x < 1:
		return "> 99 %"
	case x > 0 && x < 0.01:
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// format writes the value of a metric.
func format(kind string, x float64) string {
	switch kind {
	case "percent":
		return percent(x)
	case "number":
		return digits(x)
	case "bytes":
		return size(x)
	}
	return count(x)
}

// times writes how a second number compares to a first: "4.0× fewer", "12 % more",
// with the words for less and more.
func times(a, b float64, less, more string) string {
	switch r := b / a; {
	case a == 0:
		return "some"
	case r >= 1.5:
		return factor(r) + "× " + more
	case r > 1:
		return fmt.Sprintf("%.0f %% %s", 100*(r-1), more)
	case r > 1/1.5:
		return fmt.Sprintf("%.0f %% %s", 100*(1-r), less)
	default:
		return factor(1/r) + "× " + less
	}
}

// factor writes 4 as "4", 3.97 as "4.0", 31.7 as "32".
func factor(r float64) string {
	if r == math.Trunc(r) || r >= 20 {
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return strconv.FormatFloat(r, 'f', 1, 64)
}
