package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"void gelu<float, 4>(float*)":            "void gelu<float, 4>(float*)",
		"two  spaces":                            "two  spaces",
		"red \x1b[31;1mkernel\x1b[0m":            "red kernel",
		"title\x1b]0;owned\x07 end":              "title end",
		"link \x1b]8;;http://x\x1b\\text":        "link text",
		"cut off \x1b]0;for ever":                "cut off ",
		"  ━━●━  ":                               "  ━━●━  ",
		"reset\x1bc, up\x1b[2A, end\x1b":         "reset, up, end",
		"one\ntwo\r\n\tthree":                    "one two three",
		"C1 \u009b31m, bell\a, back\b":           "C1 31m, bell, back",
		"right to left \u202e, isolate \u2066!":  "right to left , isolate !",
		"not UTF-8 \xff\xfe":                     "not UTF-8 \ufffd",
		"Gauß-Kernel · σ²":                       "Gauß-Kernel · σ²",
		"\x1b[38;2;1;2;3mcolour\x1b[0m":          "colour",
		"nested \x1b\x1b[31m":                    "nested ",
		"a private string \x1bPq#0;2;0\x1b\\end": "a private string end",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[31m\x9b\u202e\n\x1b]0;")
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("Line(%q) = %q", s, got)
		}
		if Line(got) != got {
			t.Errorf("Line(%q) = %q, and again %q", s, got, Line(got))
		}
	})
}
