package tail

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLogKeepsTheEnd(t *testing.T) {
	var l Log
	want := ""
	for i := range 20000 {
		s := fmt.Sprintf("line %d\n", i)
		want += s
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := l.String(); got != want[len(want)-Size:] {
		t.Errorf("%d bytes, the end of them %q", len(got), got[max(0, len(got)-20):])
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n\n": "", "one": "one", "one\n two \n\n": "two", "a\r\nb\r\n": "b", "\xff\n": "?",
		strings.Repeat("x", 400):            strings.Repeat("x", 300) + "…",
		strings.Repeat("x", 299) + "µ more": strings.Repeat("x", 299) + "…",
	} {
		if got := Line(text); got != want || !utf8.ValidString(got) {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
