package evidence

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// examples returns the fenced blocks of one language in docs/evidence.md.
func examples(t *testing.T, language string) []string {
	data, err := os.ReadFile("../docs/evidence.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(data), "\n```"+language+"\n")[1:] {
		code, _, _ := strings.Cut(block, "\n```\n")
		out = append(out, code)
	}
	if len(out) == 0 {
		t.Fatalf("no %s examples", language)
	}
	return out
}

// documentedRun has disturbed attempts and ends as a kill would leave it.
func documentedRun(t *testing.T) *Run {
	w := newRun(t, 4)
	half := testRound(caseA, 6, 1, 5, "clock-drift")
	for i := range half {
		if half[i].Arm != testArms[1] {
			half[i].Disturbed = nil // by itself: its attempt does not count either
		}
	}
	err := errors.Join(w.AppendRound(testRound(caseA, 5, 1, 5, "clock-drift")), w.AppendRound(testRound(caseA, 5, 2, 5)),
		w.AppendRound(half), w.AppendRound(testRound(caseB, 1, 1, 5)))
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	return &Run{Dir: w.Dir()}
}

func TestDocumentedJQ(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed: ", err)
	}
	run := documentedRun(t)
	var got []string
	for _, code := range examples(t, "sh") {
		if !strings.HasPrefix(code, "jq ") {
			continue
		}
		cmd := exec.Command("sh", "-c", code)
		cmd.Dir = run.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", code, err, out)
		}
		got = append(got, string(out))
	}
	last := testArms[len(testArms)-1]
	if len(got) != 3 || got[2] != caseA+"\t"+last+"\t24\t12\n"+last+" global-race gelu.ptx:12 write after write\n" {
		t.Errorf("counters and findings: %q", got)
	}
	if got[0] != "running test.toml 4 rounds\n" || strings.Count(got[1], "\n") != 6*6 ||
		!strings.HasPrefix(got[1], caseA+"\t"+testArms[0]+"\tbatch:100\thot\t1\t") {
		t.Errorf("%q", got)
	}
}

func TestDocumentedPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("Python is not installed: ", err)
	}
	run := documentedRun(t)
	path := filepath.Join(run.Dir, SamplesFile)
	change(t, run.Dir, SamplesFile, func(s string) string {
		start := strings.LastIndex(s, `{"session"`)
		return s + s[:strings.Index(s, "\n")+1] + s[start:start+90] // a partial round, and a torn line
	})
	out, err := exec.Command(python, "-c", examples(t, "python")[0], run.Dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if run, err = Load(run.Dir); err != nil {
		t.Fatal(path, err)
	}
	var want []string
	for _, c := range run.Cells() {
		for _, arm := range run.Arms(c) {
			var medians, ratios []float64
			for _, r := range run.Rounds(c) {
				m := median(r.Line(arm).Samples)
				medians = append(medians, m)
				ratios = append(ratios, m/median(r.Line(testArms[0]).Samples))
			}
			want = append(want, fmt.Sprintf("%s %s %d %.9g %.9g", c, arm, len(medians), median(medians), median(ratios)))
		}
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Fields(line)
		var a, b float64
		fmt.Sscan(f[5]+" "+f[6], &a, &b)
		got = append(got, fmt.Sprintf("%s %.9g %.9g", strings.Join(f[:5], " "), a, b))
	}
	if !slices.Equal(got, want) || len(want) != 4*3 {
		t.Errorf("Python:\n%s\nGo:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return math.NaN()
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
