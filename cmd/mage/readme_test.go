package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mage/experiment"
	"mage/impl"
)

// The README quotes a record; it must say what the record says.
func TestReadmeTableIsTheReport(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	quotes := regexp.MustCompile(`(?s)<!-- report (\S+) (\S+) -->\n(.*?)<!-- end -->`).FindAllStringSubmatch(string(text), -1)
	if len(quotes) == 0 {
		t.Fatal("the README quotes no record")
	}
	for _, q := range quotes {
		var out bytes.Buffer
		code := run([]string{"report", q[1], "--results", "../../results", "--format", "markdown",
			"--table", "comparison", "--case", q[2]}, &out, io.Discard)
		if code != 0 || strings.TrimSpace(out.String()) != strings.TrimSpace(q[3]) {
			t.Errorf("the table of %s, case %s, is now:\n%s", q[1], q[2], out.String())
		}
	}
}

// The experiment that the README shows as complete must be one.
func TestReadmeExperimentIsSound(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	specs := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(specs) == 0 {
		t.Fatal("the README shows no experiment")
	}
	for _, s := range specs {
		spec, err := experiment.ParseSpec("README.md", s[1])
		if err != nil {
			t.Error(err)
			continue
		}
		// The kernels that the README says to run it with are those it needs.
		if !strings.Contains(string(text), "`mage run my.toml --kernels examples/kernels`") {
			t.Fatal("the README does not say how to run its experiment")
		}
		m, err := (laboratoryFlags{Kernels: []string{"../../examples/kernels"}, Simulate: true}).open(t.Context(), spec.Implementations)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range spec.Implementations {
			if !slices.ContainsFunc(m.Implementations, func(i impl.Implementation) bool { return i.Name() == name }) {
				t.Errorf("%s is not offered", name)
			}
		}
		m.Close()
	}
}

// The command that the README tells a newcomer to test with is the one that CI runs.
func TestCIRunsTheReadmesCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"go run ./cmd/mage demo", "go test ./..."} {
		if !strings.Contains(string(readme), "\n    "+command+"\n") {
			t.Errorf("the README does not show %q", command)
		}
		if !strings.Contains(string(ci), "\n"+command+"\n") {
			t.Errorf(".ci/run does not run %q", command)
		}
	}
}
