package cupti

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mage/capture"
)

// TestFollow reads two traces while they grow: names are each process's own, and
// what is half written or none of our business is left alone.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
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
	follow := Backend{}.Follow(dir)
	next := func(want string) {
		t.Helper()
		got := ""
		follow(func(k *capture.Kernel) {
			us := "-"
			if k.DurationUS != nil {
				us = fmt.Sprint(*k.DurationUS)
			}
			got += k.Name + ":" + us + " "
		})
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const rest = " 0 1 7 11 3072 1 1 128 1 1 28 0 4096 0 0 0\n"
	next("")
	write("trace.1.0.trace", "H 1 1 all python\nN 1 _Z4geluPf\nK 1 1000 3500"+rest+"K 1 40")
	next("gelu(float*):2.5 ")
	write("trace.1.0.trace", "00 5000"+rest+"R 211 1 2 3 4 0\nK 1 x\nK\nK 1 0 0"+rest)
	write("trace.2.0.trace", "H 1 2 all child\nN 1 other\nK 1 1 2"+rest)
	next("gelu(float*):1 gelu(float*):- other:0.001 ")
	next("")
}
