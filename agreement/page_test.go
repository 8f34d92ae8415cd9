package agreement

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestThePageShowsTheComparison holds docs/simulator.md against the retained data.
func TestThePageShowsTheComparison(t *testing.T) {
	const path = "../docs/simulator.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := text
	for marker, table := range map[string]string{
		"counters beside Nsight Compute": counterTable(t), "outputs beside a GPU": outputTable(t), "probes beside Nsight Compute": probeTable(t),
	} {
		quoted := regexp.MustCompile(`(?s)<!-- ` + marker + ` -->\n.*?<!-- end -->`)
		if !quoted.Match(now) {
			t.Errorf("the page has no place for %s", marker)
		}
		now = quoted.ReplaceAllLiteral(now, []byte("<!-- "+marker+" -->\n"+table+"<!-- end -->"))
	}
	if bytes.Equal(now, text) {
		return
	}
	if *update {
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/simulator.md is out of date: go test ./agreement -run ThePage -update")
}

func counterTable(t *testing.T) string {
	kept, counters := simulated(t), gpuCounters(t)
	var rows []Row
	cases, err := allCases("small", "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		here, ok := kept[c.Name]
		if g, counted := counters[c.Name]; ok && counted {
			g.LoadsMatrices = c.LoadsMatrices
			rows = append(rows, Row{c.Name, here, g})
		}
	}
	return device(t) + Table(rows)
}

func device(t *testing.T) string {
	text, err := os.ReadFile("testdata/device.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)) + ".\n\n"
}

func probeTable(t *testing.T) string {
	counters := gpuCounters(t)
	type tally struct{ cases, agree int }
	var order []string
	tallies := map[string]*tally{}
	for _, c := range results(t) {
		g, ok := counters[c.Name]
		if !ok || c.Set != "probe" {
			continue
		}
		n := tallies[c.Kernel]
		if n == nil {
			n = &tally{}
			tallies[c.Kernel] = n
			order = append(order, c.Kernel)
		}
		n.cases++
		if len(Compare(c.here, g)) == 0 {
			n.agree++
		}
	}
	var b strings.Builder
	b.WriteString("| access | bytes per lane | patterns | agree |\n| :-- | --: | --: | --: |\n")
	for _, k := range order {
		name, size, _ := cutLast(strings.TrimPrefix(k, "probe "), "_")
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", strings.ReplaceAll(name, "_", " "), size, tallies[k].cases, tallies[k].agree)
	}
	return b.String()
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// outputTable says of every kernel how many of its cases agree bit for bit, of the
// sets that every run replays.
func outputTable(t *testing.T) string {
	outputs := gpuOutputs(t)
	near := map[string]approximation{}
	for _, a := range approximations(t) {
		near[a.kernel] = a
	}
	type tally struct{ cases, equal int }
	var order []string
	tallies := map[string]*tally{}
	for _, c := range results(t) {
		want, ok := outputs[c.Name]
		if !ok || c.Set == "probe" || c.Set == "medium" || c.Set == "default" {
			continue
		}
		n := tallies[c.Kernel]
		if n == nil {
			n = &tally{}
			tallies[c.Kernel] = n
			order = append(order, c.Kernel)
		}
		n.cases++
		if c.output.SHA256 == want.SHA256 {
			n.equal++
		}
	}
	var b strings.Builder
	b.WriteString("| kernel | cases | equal bit for bit | where not | elements equal | largest difference |\n| :-- | --: | --: | :-- | --: | --: |\n")
	for _, k := range order {
		n := tallies[k]
		fmt.Fprintf(&b, "| %s | %d | %d |", k, n.cases, n.equal)
		a, ok := near[k]
		switch {
		case n.equal == n.cases:
			b.WriteString(" | | |\n")
		case ok:
			fmt.Fprintf(&b, " `%s` | %d of %d | %.1e |\n", strings.Join(a.instructions, "`, `"), a.equal, a.elements, a.worst)
		default:
			t.Errorf("%s: %d of %d outputs are the GPU's", k, n.equal, n.cases)
		}
	}
	return b.String()
}
