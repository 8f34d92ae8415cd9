package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/evidence/schema"
	"mage/gate"
	"mage/timing"
)

// spoil makes the timed region leave a wrong output behind.
func spoil(o *fakeOperation, _ timing.Request) error {
	o.out[gate.GuardBytes+1] ^= 0x40
	return nil
}

// TestAFailureIsRetainedBeforeItsSamples: whatever ends the run after a gate has
// failed, the record knows why the samples of that arm do not count.
func TestAFailureIsRetainedBeforeItsSamples(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	l := lab(a, b)
	l.Host.OS, l.Host.Arch, l.Host.Cores, l.Tool.Version, l.Tool.Go = "plan9", "mips", 1, "test", "go1"
	b.measured = spoil
	results := t.TempDir()
	cells := 0
	a.measured = func(*fakeOperation, timing.Request) error {
		// In the second round of the first case the disk holds what a kill would leave.
		if cells++; cells == 5 {
			dirs, _ := filepath.Glob(filepath.Join(results, "test", "*"))
			run := load(t, dirs[0])
			said := false
			for _, e := range run.Record.Entries {
				said = said || e.Arm == "fake/b@go" && strings.Contains(e.Error, "left behind")
			}
			if len(run.Lines) == 0 || !said {
				t.Errorf("%d lines, and the failure is retained: %v", len(run.Lines), said)
			}
			cancel()
		}
		return nil
	}
	out, err := Run(ctx, parse(t, fakeSpec), l, Options{Results: results})
	if !errors.Is(err, context.Canceled) || out.Failures != 1 {
		t.Fatal(out, err)
	}

	// A later session does not make up for a wrong result, though it passes there.
	a.measured, b.measured = nil, nil
	out, err = Resume(context.Background(), out.Dir, l, Options{})
	if err != nil || out.Failures != 1 {
		t.Errorf("resumed: %d failures, %v", out.Failures, err)
	}
	if err := schema.ValidateRun(out.Dir); err != nil {
		t.Error(err)
	}
}

// TestALaterSessionMakesUpForABrokenDevice counts an arm that failed without a
// wrong result by its last session, and those of finished cases still.
func TestALaterSessionMakesUpForABrokenDevice(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5, openErr: errBroken}
	a.measured = func(o *fakeOperation, _ timing.Request) error {
		if o.c.Name() == "matmul" { // the second case
			cancel()
		}
		return nil
	}
	out, err := Run(ctx, parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	if !errors.Is(err, context.Canceled) || out.Failures != 2 {
		t.Fatal(out, err)
	}
	a.measured, b.openErr = nil, nil
	out, err = Resume(context.Background(), out.Dir, lab(a, b), Options{})
	if err != nil || out.Failures != 1 {
		t.Errorf("%d failures, want that of the finished case; %v", out.Failures, err)
	}
}

// TestARefusedResumeChangesNothing: a laboratory that cannot go on with a record
// leaves every byte of it alone.
func TestARefusedResumeChangesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	b.measured = func(*fakeOperation, timing.Request) error { cancel(); return nil }
	out, _ := Run(ctx, parse(t, fakeSpec), lab(a, b), Options{Results: t.TempDir()})
	before := content(t, out.Dir)
	other := lab(a, b)
	other.Devices[0].Name = "another processor"
	for what, l := range map[string]*Lab{"another device": other, "an arm less": lab(a)} {
		refused, err := Resume(context.Background(), out.Dir, l, Options{})
		if err == nil || refused.Dir != "" {
			t.Errorf("%s: resumed (%v), %v", what, refused, err)
		}
		if content(t, out.Dir) != before {
			t.Errorf("%s: the record was changed", what)
		}
	}
}

func content(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all += f.Name() + "\n" + string(b)
	}
	return all
}

// TestALostRoundEndsTheRun: when the record cannot be written the run ends at
// once, and the error is one line.
func TestALostRoundEndsTheRun(t *testing.T) {
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	results := t.TempDir()
	cells := 0
	a.measured = func(*fakeOperation, timing.Request) error {
		if cells++; cells == 5 {
			// Not even root writes into a directory that is gone.
			dirs, _ := filepath.Glob(filepath.Join(results, "test", "*"))
			if err := os.RemoveAll(dirs[0]); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}
	_, err := Run(context.Background(), parse(t, fakeSpec), lab(a, b), Options{Results: results})
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if a.opened != a.closed || b.opened != b.closed {
		t.Errorf("opened %d and %d, closed %d and %d", a.opened, b.opened, a.closed, b.closed)
	}
}

// TestSpecFiles: what is not a declaration is said to be none, in one line.
func TestSpecFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		dir:                           "is a directory",
		filepath.Join(dir, "no.toml"): "no such file",
		write("huge.toml", strings.Repeat("# nothing\n", 200_000)):    "huge.toml: more than",
		write("latin1.toml", "namespace = \"x\"\ntitle = \"\xe4\"\n"): "latin1.toml:2: ",
		write("utf16.toml", "\xff\xfen\x00a\x00m\x00e\x00"):           "utf16.toml:1: ",
		write("nul.toml", "namespace = \"x\"\n\x00\n"):                "nul.toml:2: ",
		write("empty.toml", ""):                                       "namespace",
		write("binary.toml", "\x7fELF\x02\x01\x01"):                   "binary.toml:1: ",
	} {
		_, err := LoadSpec(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q in one line", filepath.Base(path), err, want)
		}
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := LoadSpec("/dev/zero"); err == nil {
			t.Error("/dev/zero is a spec")
		}
	}
}
