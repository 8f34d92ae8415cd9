package ncu

import (
	"math"
	"strconv"
	"strings"
)

// notation is how a file writes numbers, which depends on the locale that the
// profiler ran in: "1,234.5", "1.234,5", "1 234,5", "1'234.5".
type notation struct{ decimal byte }

const spaces = " \u00a0\u202f'’" // between thousands, besides the dot and the comma

func dropSpaces(r rune) rune {
	if strings.ContainsRune(spaces, r) {
		return -1
	}
	return r
}

// detect learns the notation from all values of a file. A separator that stands
// last of two kinds, or not before exactly three digits, is the decimal one; one
// that stands twice is not. A file that leaves it open is read as English.
func detect(values []string) notation {
	dot, comma := 0, 0
	for _, v := range values {
		v = strings.Map(dropSpaces, v)
		d, c := strings.Count(v, "."), strings.Count(v, ",")
		switch {
		case d > 0 && c > 0:
			if strings.LastIndexByte(v, '.') > strings.LastIndexByte(v, ',') {
				dot++
			} else {
				comma++
			}
		case d > 1:
			comma++
		case c > 1:
			dot++
		case d == 1 && decides(v, '.'):
			dot++
		case c == 1 && decides(v, ','):
			comma++
		}
	}
	if comma > dot {
		return notation{','}
	}
	return notation{'.'}
}

// decides says whether the one separator of v can only be a decimal one: the
// digits before it are not one to three, or those after it are not three.
func decides(v string, sep byte) bool {
	before, after, _ := strings.Cut(strings.TrimLeft(v, "+-"), string(sep))
	return isDigits(before) && (len(after) != 3 || len(before) > 3 || before == "0" || before == "") && len(after) > 0 && after[0] >= '0' && after[0] <= '9'
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// parse reads a number; ok is false for what is none: "n/a", "no data", "nan".
func (n notation) parse(s string) (v float64, ok bool) {
	thousands := byte(',')
	if n.decimal == ',' {
		thousands = '.'
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == rune(thousands):
			return -1
		case r == rune(n.decimal):
			return '.'
		}
		return dropSpaces(r)
	}, strings.TrimSpace(s))
	if s == "" || strings.Trim(s, "0123456789.+-eE") != "" {
		return 0, false // also "inf", "0x10" and "1_0", which ParseFloat would read
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0)
}
