package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGrowing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b] *") // no pattern, whatever it is called
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	var g Growing
	next := func(want ...string) {
		t.Helper()
		var got []string
		g.Each(dir, "*.trace", func(name string, line []byte) { got = append(got, name+" "+string(line)) })
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	next()
	write("1.trace", "one\ntw")
	write("other", "no\n")
	next("1.trace one")
	next()
	write("2.trace", "\r\nfirst\r\n")
	write("1.trace", "o\n\n")
	next("1.trace two", "1.trace ", "2.trace ", "2.trace first")
	write("1.trace", strings.Repeat("x", atOnce+10)) // no line at all
	g.Each(dir, "1.trace", func(string, []byte) {})
	write("1.trace", "\nend\n")
	next("1.trace xxxxxxxxxx", "1.trace end")
}

func TestBusiest(t *testing.T) {
	var all tally
	for i := range 3 * busiestKept {
		us := float64(i)
		all.add(&Kernel{Name: fmt.Sprintf("k%02d", i), DurationUS: &us})
	}
	all.add(&Kernel{Name: "k05"})
	s := all.busiest()
	if s.Launches != 61 || s.Kernels != 60 || s.TotalUS != 59*60/2 || len(s.Busiest) != busiestKept {
		t.Errorf("%+v", s)
	}
	for i, k := range s.Busiest {
		if want := fmt.Sprintf("k%02d", 59-i); k.Name != want || k.TotalUS != float64(59-i) {
			t.Errorf("%d: %+v, want %s", i, k, want)
		}
	}
}
