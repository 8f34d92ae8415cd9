package exec

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mage/contract"
)

const good = `name = "mine"
program = "./mine"
contracts = ["gelu"]
hypothesis = "It tests the loader."
`

// declare writes exec.toml into a directory of that name and returns its parent.
func declare(t *testing.T, name, text string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, name, DeclarationName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestLoad(t *testing.T) {
	all, err := Load(declare(t, "mine", good))
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if d := all[0]; d.Name != "mine" || !d.computes(contract.GELU{}) || d.computes(contract.Matmul{}) {
		t.Errorf("declaration = %+v", d)
	}
	if _, err := Load(declare(t, ".hidden", good)); err == nil || !strings.Contains(err.Error(), "no program in") {
		t.Errorf("hidden directory: %v", err)
	}
	if _, err := Load(declare(t, "a", good), declare(t, "b", good)); err == nil || !strings.Contains(err.Error(), `"mine" is already declared`) {
		t.Errorf("twice: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that does not exist is accepted")
	}
}

func TestLoadNamesTheFault(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`"mine"`, `"Mine!"`, `name = "Mine!"`},
		{`name = `, `nmae = `, `unknown key "nmae"`},
		{`program = "./mine"`, ``, "program is missing"},
		{`["gelu"]`, `["softmax"]`, "softmax"},
		{`["gelu"]`, `[]`, "contracts is missing"},
		{`["gelu"]`, `["gelu"`, "exec.toml:"},
		{`["gelu"]`, `"gelu"`, "exec.toml"},
		{`program = "./mine"`, `build = ["make"]
oxide = true`, "exclude each other"},
		{`program = "./mine"`, `program = "./mine"
build = [""]`, "empty string"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%q is not there to be spoilt", c.old)
		}
		_, err := Load(declare(t, "mine", strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), DeclarationName) {
			t.Errorf("%q for %q: %v, want %q", c.new, c.old, err, c.says)
		}
	}
}

func TestBuildMakesTheProgram(t *testing.T) {
	if _, err := osexec.LookPath("cp"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "source"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := Declaration{Name: "mine", Program: "out/mine", Build: []string{"cp", "source", "out/mine"}, Dir: dir}
	e, err := d.prepare(testContext)
	if err != nil || e.built != "cp source out/mine" || e.buildMS <= 0 || len(e.sha256) != 64 {
		t.Fatalf("%+v, %v", e, err)
	}
	d.Build = []string{"cp", "nothing", "out/mine"}
	if _, err := d.prepare(testContext); err == nil || !strings.Contains(err.Error(), "building exec/mine with cp nothing out/mine: exit status 1\n") {
		t.Errorf("failed build: %v", err)
	}
	d.Build = []string{"no-such-compiler"}
	if _, err := d.prepare(testContext); !isUnavailable(err, "no-such-compiler, which builds it, is not on PATH") {
		t.Errorf("no compiler: %v", err)
	}
}

// TestOxideProject stands in for the toolchain with scripts that do what it does:
// build below target/release, and say where that is.
func TestOxideProject(t *testing.T) {
	d := Declaration{Name: "ours", Oxide: true, Dir: t.TempDir()}
	t.Setenv("PATH", t.TempDir())
	if _, err := d.prepare(testContext); !isUnavailable(err, "cargo is not on PATH") {
		t.Errorf("without cargo: %v", err)
	}
	bin := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("cargo", `PATH=/usr/bin:/bin
case "$1" in
oxide) mkdir -p target/release && echo '#!/bin/sh' > target/release/app && chmod +x target/release/app;;
metadata) echo '{"target_directory":"'"$PWD"'/target","packages":[{"targets":[
 {"name":"app","kind":["bin"]},{"name":"app","kind":["lib"]},{"name":"check","kind":["test"]}]}]}';;
esac
`)
	t.Setenv("PATH", bin)
	if _, err := d.prepare(testContext); !isUnavailable(err, "cargo-oxide is not on PATH") {
		t.Errorf("without cargo-oxide: %v", err)
	}
	write("cargo-oxide", "exit 1\n")
	e, err := d.prepare(testContext)
	if err != nil || e.built != "cargo oxide build" || filepath.Base(e.path) != "app" || len(e.sha256) != 64 {
		t.Errorf("%+v, %v", e, err)
	}
	d.Program = "other"
	if _, err := d.prepare(testContext); err == nil || !strings.Contains(err.Error(), "0 binaries that fit") {
		t.Errorf("a binary that is not there: %v", err)
	}
}

// TestGuideShowsAValidDeclaration keeps docs/rust.md loadable.
func TestGuideShowsAValidDeclaration(t *testing.T) {
	guide, err := os.ReadFile("../../docs/rust.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(guide), "```toml\n")
	text, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("docs/rust.md shows no exec.toml")
	}
	if _, err := Load(declare(t, "mine", text)); err != nil {
		t.Error(err)
	}
}

func TestOurOwnDeclarationLoads(t *testing.T) {
	all, err := Load("../../rust")
	if err != nil || len(all) != 1 || len(all[0].Contracts) != len(contract.All()) {
		t.Errorf("%+v, %v", all, err)
	}
}
