package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mage/unavailable"
)

// machine gives the test a machine with nothing on PATH but these scripts, by
// name, and no other trace of CUDA, Python or Rust in the environment.
func machine(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+body)
	}
	t.Setenv("PATH", dir)
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"MAGE_PYTHON", "VIRTUAL_ENV", "CUDA_HOME", "CUDA_PATH", "CARGO_HOME", "CC", "MAGE_CUPTI", "MAGE_NVRTC"} {
		t.Setenv(name, "")
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// collect runs one examination by itself.
func collect(run func(context.Context, func(Finding)), limit time.Duration) map[string]Finding {
	found := map[string]Finding{}
	for _, f := range runChecks(context.Background(), []check{{"area", "item", limit, run}}) {
		found[f.Item] = f
	}
	return found
}

// wellFormed checks what holds for every finding: found or explained.
func wellFormed(t *testing.T, f Finding) {
	t.Helper()
	switch {
	case f.Area == "" || f.Item == "":
		t.Errorf("unnamed: %+v", f)
	case f.Available && f.Reason != "":
		t.Errorf("available, and yet: %+v", f)
	case !f.Available && (f.Reason == "" || f.Version != ""):
		t.Errorf("unavailable without a reason, or with a version: %+v", f)
	case strings.ContainsAny(f.Version+f.Detail+f.Reason+f.Remedy, "\n\x00"):
		t.Errorf("not one line: %+v", f)
	}
}

func TestExamineThisMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python and every tool of this machine")
	}
	found := Examine(context.Background(), Options{})
	seen := map[string]bool{}
	for _, f := range found {
		wellFormed(t, f)
		if seen[f.Area+f.Item] {
			t.Errorf("%s twice", f.Item)
		}
		seen[f.Area+f.Item] = true
		line, err := json.Marshal(f)
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s", line)
	}
	for _, item := range []string{"GPUNVIDIA driver", "GPUsimulator", "CUDANVRTC", "CUDACUPTI", "CUDANVML", "CUDAcuBLASLt", "profilersnsys",
		"profilersncu", "profilerscompute-sanitizer", "PythonPython", "Pythontorch", "Pythontriton", "Rustrustc",
		"Rustrust-src", "Rustcargo oxide", "hostC compiler", "hostprocessor"} {
		if !seen[item] {
			t.Errorf("nothing about %s", item)
		}
	}
}

func TestExamineBareMachine(t *testing.T) {
	machine(t, nil)
	for _, f := range Examine(context.Background(), Options{}) {
		wellFormed(t, f)
		if f.Item == "simulator" && !f.Available {
			t.Errorf("every machine has a simulator: %+v", f)
		}
		switch f.Area {
		case "Python", "Rust":
			if f.Available || f.Remedy == "" {
				t.Errorf("on a machine with nothing: %+v", f)
			}
		}
	}
}

func TestExamineStops(t *testing.T) {
	machine(t, map[string]string{"python3": "exec /bin/sleep 60", "rustc": "exec /bin/sleep 60", "cc": "exec /bin/sleep 60"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, f := range Examine(ctx, Options{}) {
		wellFormed(t, f)
	}
}

func TestCheckThatHangsIsLeftBehind(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	found := runChecks(context.Background(), []check{
		{"a", "stuck", time.Millisecond, func(_ context.Context, report func(Finding)) {
			report(Finding{Item: "first", Available: true})
			<-release
			report(Finding{Item: "late", Available: true})
		}},
		{"b", "broken", time.Minute, func(context.Context, func(Finding)) { panic("garbage") }},
		{"c", "fine", time.Minute, func(_ context.Context, report func(Finding)) { report(Finding{Item: "fine", Available: true}) }},
	})
	var got []string
	for _, f := range found {
		wellFormed(t, f)
		got = append(got, f.Item)
	}
	if s := strings.Join(got, " "); s != "first stuck broken fine" {
		t.Errorf("found %q", s)
	}
	if !strings.Contains(found[1].Reason, "no answer within 1ms") || !strings.Contains(found[2].Reason, "garbage") {
		t.Errorf("reasons: %+v", found)
	}
}

func TestMissingCarriesTheRemedy(t *testing.T) {
	f := missing("NVML", unavailable.New("NVML", "no library", "install it"))
	if f.Available || f.Reason != "no library" || f.Remedy != "install it" {
		t.Errorf("%+v", f)
	}
	if f := missing("NVML", errors.New("odd")); f.Reason != "odd" || f.Remedy != "" {
		t.Errorf("%+v", f)
	}
}
