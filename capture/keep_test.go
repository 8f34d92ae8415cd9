//go:build unix

package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/capture"
)

// scripted is a profiler whose every step the test decides.
type scripted struct {
	parse  func(dir string) (capture.Result, error)
	follow func(dir string) func(func(*capture.Kernel))
}

func (scripted) Name() string { return "scripted" }

func (scripted) Prepare(_ context.Context, _ string, r capture.Request) (capture.Plan, error) {
	return capture.Plan{Run: capture.Command{Argv: r.Argv}}, nil
}

func (s scripted) Parse(_ context.Context, dir string, _ capture.Request) (capture.Result, error) {
	return s.parse(dir)
}

func (s scripted) Follow(dir string) func(func(*capture.Kernel)) { return s.follow(dir) }

func one(us float64) capture.Kernel { return capture.Kernel{Name: "k<1>", DurationUS: &us} }

// TestWhatCannotBeKept: a capture that is not whole on disk is not complete, and
// capture.json says so.
func TestWhatCannotBeKept(t *testing.T) {
	for _, name := range []string{capture.KernelsFile, capture.TableFile, capture.CopiesFile} {
		b := newBench(t, "", "")
		blocked := scripted{parse: func(dir string) (capture.Result, error) {
			return capture.Result{Kernels: []capture.Kernel{one(1)}, Copies: []capture.Copy{{Kind: "fill"}}},
				os.Mkdir(filepath.Join(dir, "."+name+".new"), 0o700) // where the file would be written
		}}
		if c, _ := b.run(blocked, good, capture.ToolFailed); !strings.Contains(c.Reason, "could not be kept") || c.Launches != 1 {
			t.Errorf("%s: %q, %d launches", name, c.Reason, c.Launches)
		}
	}
}

// TestDirectoryHoldsNothingElse: neither the room for the outcome nor halves of files.
func TestDirectoryHoldsNothingElse(t *testing.T) {
	b := newBench(t, "", "")
	c, _ := b.run(scripted{parse: func(dir string) (capture.Result, error) {
		if info, err := os.Stat(filepath.Join(dir, ".reserve")); err != nil || info.Size() == 0 {
			t.Error("no room is held for the outcome")
		}
		return capture.Result{Kernels: []capture.Kernel{one(1), one(2)}}, nil
	}}, good, capture.Complete)
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left", e.Name())
		}
	}
	text, err := os.ReadFile(filepath.Join(c.Dir, capture.KernelsFile))
	var kernels []capture.Kernel
	if err != nil || json.Unmarshal(text, &kernels) != nil || len(kernels) != 2 || strings.Count(string(text), "\n") != 4 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestFollow: who watches is told of launches while the program runs, which ends
// only when they have been seen.
func TestFollow(t *testing.T) {
	b := newBench(t, "", "")
	seen := filepath.Join(t.TempDir(), "seen")
	backend := scripted{
		follow: func(string) func(func(*capture.Kernel)) {
			n := 0
			return func(add func(*capture.Kernel)) {
				if n++; n < 3 {
					k := one(float64(n))
					add(&k)
					add(&capture.Kernel{Name: "untimed"})
				}
			}
		},
		parse: func(string) (capture.Result, error) { return capture.Result{Kernels: []capture.Kernel{one(1)}}, nil },
	}
	wait := capture.Request{Argv: []string{"/bin/sh", "-c", `for i in $(seq 200); do [ -f "$1" ] && exit 0; sleep 0.05; done; exit 1`, "sh", seen}}
	var last capture.Seen
	_, _, err := capture.Run(context.Background(), backend, wait, capture.Options{Root: b.root, Follow: true, Watch: func(st capture.Status) {
		if last = st.Seen; last.Launches >= 4 && st.Phase == "capturing" {
			_ = os.WriteFile(seen, nil, 0o600)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last.Launches != 4 || last.Kernels != 2 || last.TotalUS != 3 || len(last.Busiest) != 2 ||
		last.Busiest[0] != (capture.Tally{Name: "k<1>", Launches: 2, Timed: 2, TotalUS: 3}) ||
		last.Busiest[1] != (capture.Tally{Name: "untimed", Launches: 2}) {
		t.Errorf("%+v", last)
	}
}

// TestInput: the program reads what it is given, and nothing otherwise.
func TestInput(t *testing.T) {
	b := newBench(t, "", "")
	cat := capture.Request{Argv: []string{"/bin/cat"}}
	for _, text := range []string{"what it is given\n", ""} {
		o := capture.Options{Root: b.root}
		if text != "" {
			path := filepath.Join(t.TempDir(), "in")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			o.Stdin = f
		}
		c, _, err := capture.Run(context.Background(), scripted{parse: func(string) (capture.Result, error) { return capture.Result{}, nil }}, cat, o)
		if f, ok := errors.AsType[*capture.Failure](err); !ok || f.Outcome != capture.Empty {
			t.Fatal(err)
		}
		if log, err := os.ReadFile(filepath.Join(c.Dir, capture.LogFile)); err != nil || string(log) != text {
			t.Errorf("the program read %q, %v", log, err)
		}
	}
}

func TestNamesThatAreMissing(t *testing.T) {
	b := newBench(t, "", "")
	c, r := b.run(scripted{parse: func(string) (capture.Result, error) {
		return capture.Result{Kernels: []capture.Kernel{one(1), {}, {}}}, nil
	}}, good, capture.Complete)
	if r.Kernels[1].Name != "the name is missing" || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "2 kernels") {
		t.Errorf("%+v, %q", r.Kernels, c.Warnings)
	}
}
