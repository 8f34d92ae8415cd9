// Package printable makes text of unknown origin, such as the name of a kernel or
// what a program printed, safe to show on a terminal.
package printable

import (
	"regexp"
	"strings"
	"unicode"
)

// escape is a sequence that a terminal obeys (ECMA-48): control sequences, and
// strings such as a window's title with their end.
var escape = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)

// breaks is white space that is more than spaces.
var breaks = regexp.MustCompile(`[ ]*[\t\n\v\f\r\x{85}\x{2028}\x{2029}][\s\x{85}\x{2028}\x{2029}]*`)

// Line is s as one line without anything that a terminal would obey: no escape
// sequences, no control characters, none that turn the direction of writing.
// Line breaks and tabs become a space, bytes that are not UTF-8 become U+FFFD.
func Line(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ToValidUTF8(escape.ReplaceAllString(s, ""), "\ufffd")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, breaks.ReplaceAllString(s, " "))
}

// plain says that s holds printable ASCII only, which most text does.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
