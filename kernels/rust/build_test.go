package rust

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mage/contract"
	"mage/gpu/cuda"
	"mage/kernels"
)

// TestPTXIsWhatTheCompilerGenerates compiles again where the compiler that wrote
// the files is installed, and then must find the one file that was edited, which
// no hash shows. Everywhere else the script compares hashes and options.
func TestPTXIsWhatTheCompilerGenerates(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("first")); err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(dir, "edited")
	if err := os.CopyFS(edited, os.DirFS("first/gelu")); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(read(t, "first/gelu/gelu.ptx"), "fma.rn", "fma.rz", 1)
	if err := os.WriteFile(filepath.Join(edited, "gelu.ptx"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := build(t, os.Getenv("RUSTC"), "--check", dir)
	if strings.Contains(out, "by hash alone") && err == nil {
		t.Skip(strings.TrimSpace(out))
	}
	if strings.Contains(out, "(0 of them by compiling again") && err == nil {
		t.Skipf("another compiler than the one that wrote the PTX: %s", out)
	}
	if err == nil || strings.Count(out, "differs from what rustc ") != 1 || !strings.Contains(out, "1 of 6 PTX files are out of date") {
		t.Errorf("error %v, want a complaint about edited/gelu.ptx alone:\n%s", err, out)
	}
}

// TestCheckFindsWhatIsStale needs no compiler.
func TestCheckFindsWhatIsStale(t *testing.T) {
	if out, err := build(t, "no-such-rustc", "--check"); err != nil {
		t.Errorf("the committed files: %v\n%s", err, out)
	}
	for _, c := range []struct {
		what, file, old, new, says string
	}{
		{"nothing", "gelu.ptx", "", "", "1 PTX files are up to date (by hash alone: "},
		{"the source", "gelu.rs", "0.5 * z", "0.6 * z", "gelu.ptx: was generated from another version of gelu.rs"},
		{"the options", "gelu.ptx", "opt-level=3", "opt-level=2", "gelu.ptx: was compiled with other options"},
	} {
		dir := t.TempDir()
		for _, name := range []string{"gelu.rs", "gelu.ptx"} {
			text := read(t, filepath.Join("first/gelu", name))
			if name == c.file {
				if !strings.Contains(text, c.old) {
					t.Fatalf("%s does not contain %q", name, c.old)
				}
				text = strings.Replace(text, c.old, c.new, 1)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, err := build(t, "no-such-rustc", "--check", dir)
		if (err == nil) != (c.what == "nothing") || !strings.Contains(out, c.says) {
			t.Errorf("%s changed: error %v, output %q, want %q", c.what, err, out, c.says)
		}
	}
	if out, err := build(t, "no-such-rustc"); err == nil || !strings.Contains(out, "no-such-rustc does not run") {
		t.Errorf("building without a compiler: %v, %q", err, out)
	}
}

// TestPTXAssembles runs ptxas, for the oldest and a recent architecture. No
// kernel of ours may spill.
func TestPTXAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if nvrtc := os.Getenv("MAGE_NVRTC"); err != nil && nvrtc != "" {
		ptxas, err = exec.LookPath(filepath.Join(filepath.Dir(nvrtc), "../bin/ptxas"))
	}
	if err != nil {
		t.Skip("no ptxas")
	}
	for _, k := range load(t) {
		for _, arch := range []string{"sm_75", "sm_90"} {
			cmd := exec.Command(ptxas, "-v", "-arch="+arch, "-o", filepath.Join(t.TempDir(), "cubin"), "-")
			cmd.Stdin = strings.NewReader(string(k.PTX.Image))
			log, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s for %s: %v\n%s", k.Name(), arch, err, log)
				continue
			}
			for _, r := range cuda.ParsePTXASInfo(string(log)) {
				t.Logf("%s %s: %d registers, %d bytes shared, spills %d/%d bytes", k.Name(), arch, r.Registers, r.SharedBytes, r.SpillStores, r.SpillLoads)
				if r.SpillStores+r.SpillLoads > 0 {
					t.Errorf("%s for %s spills", k.Name(), arch)
				}
			}
		}
	}
}

// TestSameLaunchesAsCUDA: the two first versions are compared with each other,
// so nothing but the language may differ.
func TestSameLaunchesAsCUDA(t *testing.T) {
	other := strings.NewReplacer("cuda/first", "rust/first", ".cu\"", ".rs\"")
	for _, c := range contract.All() {
		ours := withoutHypothesis(read(t, filepath.Join("first", c.Name(), kernels.DescriptionName)))
		theirs := withoutHypothesis(read(t, filepath.Join("../cuda/first", c.Name(), kernels.DescriptionName)))
		if ours != other.Replace(theirs) {
			t.Errorf("%s is described otherwise than in cuda/first", c.Name())
		}
	}
}

func withoutHypothesis(description string) string {
	lines := strings.Split(description, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "hypothesis") }), "\n")
}

func build(t *testing.T, rustc string, args ...string) (string, error) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	if testing.Short() && rustc == "" {
		rustc = "skipped-in-short-tests"
	}
	cmd := exec.Command(bash, append([]string{"build.sh"}, args...)...)
	cmd.Env = append(os.Environ(), "RUSTC="+rustc)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func load(t *testing.T) []kernels.Kernel {
	t.Helper()
	ks, err := kernels.Load(os.DirFS("."), "kernels/rust")
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
