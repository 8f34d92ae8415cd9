package capture

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openLog(t *testing.T) (*runLog, string) {
	t.Helper()
	dir := t.TempDir()
	l, err := newLog(filepath.Join(dir, LogFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, dir
}

func TestLogRemembersTheLastLine(t *testing.T) {
	l, dir := openLog(t)
	for _, step := range []struct{ text, want string }{
		{"begun", ""}, {" and ended\n", "begun and ended"}, {"\n \r\n", "begun and ended"}, {"one\ntwo\n\n", "two"},
		{"50 %\r60 %\r", "60 %"}, {"not yet", "60 %"}, {"\r", "not yet"}, {"\x1b[31mred\x1b[0m\n", "red"},
		{strings.Repeat("x", 1000) + "\n", strings.Repeat("x", 300)}, {strings.Repeat("y", 1000), strings.Repeat("x", 300)},
		{"\nend\n", "end"},
	} {
		if _, err := l.Write([]byte(step.text)); err != nil || l.last() != step.want {
			t.Errorf("after %.20q: %q, want %q", step.text, l.last(), step.want)
		}
	}
	if got := Tail(dir, 2); !slices.Equal(got, []string{strings.Repeat("y", 1000), "end"}) {
		t.Errorf("the tail is %.60q", got)
	}
	if got := Tail(t.TempDir(), 2); got != nil {
		t.Errorf("the tail of nothing is %q", got)
	}
}

// TestLogIsBounded: the head and the end of what a command prints are kept.
func TestLogIsBounded(t *testing.T) {
	l, dir := openLog(t)
	l.left = 1000
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 100)
	for range 1000 {
		l.Write(chunk)
	}
	l.settle()
	l.Write([]byte("half a line"))
	l.begin()
	l.Write([]byte("what the export prints\n"))
	if l.last() != "what the export prints" {
		t.Errorf("the export's last line is %q", l.last())
	}
	l.settle()
	text, err := os.ReadFile(filepath.Join(dir, LogFile))
	if err != nil {
		t.Fatal(err)
	}
	head, rest, cut := strings.Cut(string(text), "\n[")
	if !cut || len(head) != 1000 || len(text) > 3*tailBytes || !strings.HasSuffix(rest, "abcde\nhalf a linewhat the export prints\n") {
		t.Errorf("%d bytes, the head %d; the end %q", len(text), len(head), rest[len(rest)-50:])
	}
	out, _, _ := strings.Cut(rest, " bytes are left out here]\n")
	kept := len(text) - len("\n["+out+" bytes are left out here]\n") - len("half a linewhat the export prints\n")
	if want := 1000*len(chunk) - kept; out != itoa(want) {
		t.Errorf("%s bytes are said to be left out, want %d", out, want)
	}
}

func itoa(n int) string { return number(&n) }

// TestLogOutlivesAFullDisk: the program goes on, and the error is kept.
func TestLogOutlivesAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	l := &runLog{f: full, left: headBytes}
	if n, err := l.Write([]byte("line\n")); n != 5 || err != nil || l.err == nil || l.last() != "line" {
		t.Errorf("%d, %v, %v", n, err, l.err)
	}
}
