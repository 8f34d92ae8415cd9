package cupti

import (
	"errors"
	"strings"
	"testing"
)

const whole3 = "H 1 42 all python3.11\nI 130001\nV 0 9 0 NVIDIA%20H200\nT start 5\nN 0 _Z1kv\nA 2 211 cudaLaunchKernel_v7000\n" +
	"R 211 10 20 7 1 0\nR 999 10 20 7 1 0\nK 0 30 40 0 1 7 1 4 1 1 128 1 1 16 0 0 0 0 0\nZ 1 0 0 0 2 0 0 1 0 0\n"

func TestRead(t *testing.T) {
	tr, err := read(strings.NewReader(whole3))
	if err != nil {
		t.Fatal(err)
	}
	if !tr.ended || tr.torn || tr.process != 42 || tr.String() != "process 42 (python3.11)" || tr.onRange || tr.starts != 1 {
		t.Errorf("%+v", tr)
	}
	if len(tr.kernels) != 1 || tr.kernels[0].name != "_Z1kv" || tr.kernels[0].us() != 0.01 || tr.devices[0] != "NVIDIA H200" {
		t.Errorf("%+v", tr)
	}
	if len(tr.calls) != 2 || tr.calls[0].name != "cudaLaunchKernel_v7000" || tr.calls[1].name != "runtime call 999" {
		t.Errorf("%+v", tr.calls)
	}
}

// TestReadTorn cuts a trace at every byte: whole lines are read, and that
// something is missing is always known.
func TestReadTorn(t *testing.T) {
	for n := range len(whole3) {
		tr, err := read(strings.NewReader(whole3[:n]))
		if n <= strings.Index(whole3, "\n") {
			if err == nil {
				t.Errorf("%d bytes are a trace", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if torn := whole3[n-1] != '\n'; tr.ended || tr.torn != torn || tr.complete() == nil {
			t.Errorf("%d bytes: ended %v, torn %v, %v", n, tr.ended, tr.torn, tr.complete())
		}
		if kernels := strings.Count(whole3[:n], "0 0 0 0 0\n"); len(tr.kernels) != kernels {
			t.Errorf("%d bytes: %d kernels, not %d", n, len(tr.kernels), kernels)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	head := "H 1 42 all p\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":              {"", "no whole line"},
		"no first line":        {"I 130001\n", "only that, begins with H"},
		"two first lines":      {head + head, "only that, begins with H"},
		"a line of one letter": {head + "K\n", "not of a trace"},
		"another letter":       {head + "Q 1\n", `letter 'Q'`},
		"too few fields":       {head + "L \n", "missing"},
		"too many fields":      {head + "L 1 2\n", "more than the line holds"},
		"no number":            {head + "L x\n", "no number"},
		"a negative number":    {head + "L -1\n", "no number"},
		"a number too large":   {head + "I 4294967296\n", "too large"},
		"a name nobody gave":   {head + "K 3 1 2 0 0 0 0 1 1 1 1 1 1 0 0 0 0 0 0\n", "the name 3"},
		"a broken escape":      {head + "N 0 a%2\n", "broken escape"},
		"no escape":            {head + "N 0 a%zz\n", "broken escape"},
		"a missing line":       {head + "Z 1 0 0 0 0 0 0 0 0 0\n", "0 lines of K, and its end counts 1"},
		"a loss not counted":   {head + "Z 0 0 0 0 0 0 0 0 4 0\n", "lost 0 records, and its end counts 4"},
		"lines past the end":   {head + "Z 0 0 0 0 0 0 0 0 0 0\nL 1\n", "follows the end"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	if _, err := read(strings.NewReader("H 2 42 all p\n")); !errors.Is(err, errFormat) {
		t.Error(err)
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{"%": "", "a": "a", "a%20b": "a b", "%25": "%", "x%0A": "x\n"} {
		if l := (&line{rest: in}); l.text() != want || l.err != nil {
			t.Errorf("%q is read as another text than %q, %v", in, want, l.err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(whole3)
	f.Fuzz(func(t *testing.T, s string) {
		tr, err := read(strings.NewReader(s))
		if err == nil && tr.ended && tr.torn && tr.complete() == nil {
			t.Error("a torn trace is complete")
		}
	})
}
