package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mage/experiment"
	"mage/impl"
)

// Pages quote records between "<!-- report RECORD TABLE [CASE] -->" and "<!-- end -->".
// Each quotation must be what the report says, whole or a part of it.
func TestQuotedTablesAreTheReport(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := map[string]string{}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range regexp.MustCompile(`(?s)<!-- report (\S+) (\S+) ?(\S*) -->\n(.*?)<!-- end -->`).FindAllStringSubmatch(string(text), -1) {
			args := []string{"report", q[1], "--results", "../../results", "--format", "markdown", "--table", q[2]}
			if q[3] != "" {
				args = append(args, "--case", q[3])
			}
			key := strings.Join(args, " ")
			if quoted[key] == "" {
				var out, stderr bytes.Buffer
				if code := run(args, &out, &stderr); code != 0 {
					t.Fatalf("%s quotes %s: %s", page, key, stderr.String())
				}
				quoted[key] = out.String()
			}
			if part := strings.TrimSpace(q[4]); part == "" || !strings.Contains(quoted[key], part) {
				t.Errorf("%s does not quote %s as it is now:\n%s", page, key, quoted[key])
			}
		}
	}
	if len(quoted) < 2 {
		t.Errorf("pages quote %d tables", len(quoted))
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
