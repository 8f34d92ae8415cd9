package doctor

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPython(t *testing.T) {
	const header = `[ "$1" = -c ] || exit 9` + "\n"
	for name, c := range map[string]struct {
		script string
		limit  time.Duration
		want   map[string]string // item: version, or "-" and part of the reason
	}{
		"all there": {`echo some banner
echo 'mage-doctor {"stage":"python","version":"3.12.3","path":"/x/python3"}'
echo 'UserWarning: noise' >&2
echo 'mage-doctor {"stage":"torch","version":"2.11.0+cu130","detail":"built for CUDA 13.0"}'
echo 'mage-doctor {"stage":"cuda","version":"CUDA 13.0","detail":"1 devices"}'
echo 'mage-doctor {"stage":"triton","version":"3.6.0"}'`, time.Minute,
			map[string]string{"Python": "3.12.3", "torch": "2.11.0+cu130", "torch on the GPU": "CUDA 13.0", "triton": "3.6.0"}},
		"no torch": {`echo 'mage-doctor {"stage":"python","version":"3.12.3"}'
echo "mage-doctor {\"stage\":\"torch\",\"error\":\"ModuleNotFoundError: No module named 'torch'\"}"
echo 'mage-doctor {"stage":"cuda","error":"torch.cuda.is_available() is false"}'
echo 'mage-doctor {"stage":"triton","error":"ImportError"}'`, time.Minute,
			map[string]string{"Python": "3.12.3", "torch": "-No module named", "torch on the GPU": "-is false", "triton": "-ImportError"}},
		"torch hangs": {`echo 'mage-doctor {"stage":"python","version":"3.12.3"}'
exec /bin/sleep 100`, 300 * time.Millisecond,
			map[string]string{"Python": "3.12.3", "torch": "-deadline", "torch on the GPU": "-deadline", "triton": "-deadline"}},
		"garbage": {`printf 'mage-doctor {"stage":\n\000\377mage-doctor []\nmage-doctor {}\nmage-doctor {"stage":7}\n'`, time.Minute,
			map[string]string{"Python": "-without saying", "torch": "-without saying", "torch on the GPU": "-without", "triton": "-without"}},
		"crashes": {`echo 'mage-doctor {"stage":"python","version":"3.12.3"}'; kill -SEGV $$`, time.Minute,
			map[string]string{"Python": "3.12.3", "torch": "-segmentation fault", "torch on the GPU": "-segmentation", "triton": "-segmentation"}},
	} {
		t.Run(name, func(t *testing.T) {
			machine(t, map[string]string{"python3": header + c.script})
			found := collect(pythonSubjects, c.limit)
			if len(found) != len(c.want) {
				t.Errorf("found %v", found)
			}
			for item, want := range c.want {
				f := found[item]
				wellFormed(t, f)
				if reason, missing := strings.CutPrefix(want, "-"); missing {
					if f.Available || !strings.Contains(f.Reason, reason) {
						t.Errorf("%+v, want a reason with %q", f, reason)
					}
				} else if !f.Available || f.Version != want {
					t.Errorf("%+v, want version %s", f, want)
				}
			}
		})
	}
}

func TestInterpreterOrder(t *testing.T) {
	dir := machine(t, map[string]string{"python3": "", "mine": ""})
	write(t, filepath.Join(dir, "venv", "bin", "python3"), "#!/bin/sh\n")
	expect := func(want string) {
		t.Helper()
		if got, err := interpreter(); err != nil || got != want {
			t.Errorf("interpreter is %q (%v), want %q", got, err, want)
		}
	}
	expect(filepath.Join(dir, "python3"))
	t.Setenv("VIRTUAL_ENV", filepath.Join(dir, "venv"))
	expect(filepath.Join(dir, "venv", "bin", "python3"))
	t.Setenv("MAGE_PYTHON", filepath.Join(dir, "mine"))
	expect(filepath.Join(dir, "mine"))
	// What was asked for and is not there is not replaced by another.
	t.Setenv("MAGE_PYTHON", filepath.Join(dir, "absent"))
	if got, err := interpreter(); err == nil {
		t.Errorf("fell back to %q", got)
	}
}

// TestPythonScript runs the real script: its stages must be the ones expected.
func TestPythonScript(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	text, err := output(context.Background(), nil, path, "-c", pythonScript)
	if err != nil {
		t.Fatal(err)
	}
	stages := pythonStages(text)
	for _, item := range pythonItems() {
		s, ok := stages[item.stage]
		if !ok || (s.Version == "") == (s.Error == "") {
			t.Errorf("stage %s: %+v in\n%s", item.stage, s, text)
		}
	}
}

func TestRust(t *testing.T) {
	const rustc = `case "$*" in
--version) echo "rustc 1.92.0-nightly (0123 2026-01-01)";;
"--print target-libdir --target nvptx64-nvidia-cuda") echo "info: noise" >&2; echo "$ROOT/lib/rustlib/nvptx64-nvidia-cuda/lib";;
"--print sysroot") echo "$ROOT";;
*) exit 1;;
esac`
	root := t.TempDir()
	machine(t, map[string]string{"rustc": rustc, "cargo-oxide": `[ "$1" = oxide ] && echo "cargo-oxide 0.3.0"`})
	t.Setenv("ROOT", root)
	found := collect(rust, time.Minute)
	if f := found["rustc"]; !f.Available || f.Version != "1.92.0-nightly" {
		t.Errorf("%+v", f)
	}
	for _, item := range []string{nvptxTarget, "rust-src"} {
		wellFormed(t, found[item])
		if f := found[item]; f.Available || f.Remedy == "" {
			t.Errorf("not installed: %+v", f)
		}
	}
	write(t, filepath.Join(root, "lib/rustlib/nvptx64-nvidia-cuda/lib/libcore-12ab.rlib"), "")
	write(t, filepath.Join(root, "lib/rustlib/src/rust/library/core/Cargo.toml"), "")
	for item, f := range collect(rust, time.Minute) {
		if !f.Available {
			t.Errorf("installed: %s: %+v", item, f)
		}
	}
	if f := collect(oxide, time.Minute)["cargo oxide"]; !f.Available || f.Version != "0.3.0" {
		t.Errorf("%+v", f)
	}

	machine(t, map[string]string{"rustc": `echo "error: rustup could not choose a version" >&2; exit 1`})
	for item, f := range collect(rust, time.Minute) {
		if f.Available || (item == "rustc" && !strings.Contains(f.Reason, "could not choose")) {
			t.Errorf("%+v", f)
		}
	}
}

func TestCountersAllowed(t *testing.T) {
	params := filepath.Join(t.TempDir(), "params")
	if f := countersAllowed(params, true); f.Available || f.Reason == "" {
		t.Errorf("no module: %+v", f)
	}
	for text, want := range map[string][2]bool{ // as a user, as administrator
		"EnableMSI: 1\nRmProfilingAdminOnly: 1\n": {false, true},
		"RmProfilingAdminOnly: 0\n":               {true, true},
		"EnableMSI: 1\n":                          {false, false},
		"\x00\xff":                                {false, false},
	} {
		write(t, params, text)
		for i, administrator := range []bool{false, true} {
			if f := countersAllowed(params, administrator); f.Available != want[i] || f.Available == (f.Reason != "") {
				t.Errorf("%q, administrator %v: %+v", text, administrator, f)
			}
		}
	}
}

func TestModuleVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "version")
	if v := moduleVersion(path); v != "" {
		t.Errorf("no file gave %q", v)
	}
	write(t, path, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@host)\nGCC version: gcc 12.2.0\n")
	if v := moduleVersion(path); v != "580.159.04" {
		t.Errorf("version %q", v)
	}
}

func TestCPUModel(t *testing.T) {
	if m := cpuModel("processor\t: 0\nmodel name\t: AMD EPYC 9654: 96-Core\n"); m != "AMD EPYC 9654: 96-Core" {
		t.Errorf("model %q", m)
	}
	if m := cpuModel("processor : 0\n"); m != "" {
		t.Errorf("model %q", m)
	}
}

func TestCUBLASLt(t *testing.T) {
	if f := cublasLtAmong([]string{filepath.Join(t.TempDir(), "absent.so")}); f.Available || !strings.Contains(f.Reason, "absent.so") || f.Remedy == "" {
		t.Errorf("%+v", f)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) to build a stub library with")
	}
	build := func(name, source string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "stub.c"), source)
		lib := filepath.Join(dir, name)
		if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", lib, filepath.Join(dir, "stub.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return lib
	}
	other := build("libother.so", "int unrelated;")
	if f := cublasLtAmong([]string{other}); f.Available || !strings.Contains(f.Reason, "cublasLtGetVersion") {
		t.Errorf("%+v", f)
	}
	lib := build("libcublasLt.so.13", "#include <stddef.h>\nsize_t cublasLtGetVersion(void) { return 130102; }")
	if f := cublasLtAmong([]string{other, lib}); !f.Available || f.Version != "13.1.2" || f.Path != lib {
		t.Errorf("%+v", f)
	}
}
