package report_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mage/evidence"
	"mage/report"
)

// TestCommittedRecords reads the records that are kept with the source.
func TestCommittedRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("reads tens of megabytes")
	}
	dirs, err := filepath.Glob("../results/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no record: %v", err)
	}
	for _, dir := range dirs {
		run, err := evidence.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(run.Record.Namespace, func(t *testing.T) {
			r := build(t, run)
			isSound(t, run, r)
			everyTableIsCSV(t, r)
			launchPathsAgree(t, r)
		})
	}
}

// isSound: a record is complete, of the experiment as it stands here, and says of
// everything that it lacks why.
func isSound(t *testing.T, run *evidence.Run, r *report.Report) {
	h := r.Header
	if h.Status != evidence.Complete || len(run.Warnings) > 0 {
		t.Errorf("it is %s: %v", h.Status, run.Warnings)
	}
	text, err := os.ReadFile(filepath.Join("../experiments", h.SpecName))
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join("../examples", h.SpecName))
	}
	if err != nil || string(text) != run.Record.Spec.Text {
		t.Errorf("it was run from another %s than the one that is here: %v", h.SpecName, err)
	}
	gated := map[string]bool{}
	for _, g := range r.Gates {
		gated[g.Case+" "+g.Arm] = g.Passed && len(g.Stages) > 0
	}
	for _, c := range r.Cases {
		for _, g := range c.Groups {
			for _, x := range g.Cells {
				if !gated[c.Case.ID+" "+x.Arm] {
					t.Errorf("%s of %s has a time and did not pass the gate", x.Arm, c.Case.ID)
				}
			}
		}
	}
	for _, u := range r.Unavailable {
		if u.Reason == "" {
			t.Errorf("%s is unavailable without a reason", u.What)
		}
	}
}

// flat is one table of a report as CSV, a map per row.
func flat(t *testing.T, r *report.Report, table string) []map[string]string {
	lines, err := csv.NewReader(strings.NewReader(render(t, r, report.CSV, report.RenderOptions{Tables: []string{table}}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for i, line := range lines {
		if i == 0 {
			continue
		}
		row := map[string]string{}
		for j, v := range line {
			row[lines[0][j]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// launchPathsAgree: what the tables make of an advantage follows from the verdicts
// of the comparison, and the paragraph below a table has each arm under the same answer.
func launchPathsAgree(t *testing.T, r *report.Report) {
	verdicts := map[[4]string]string{}
	for _, c := range flat(t, r, report.ComparisonTable) {
		verdicts[[4]string{c["case"], c["cache"], c["mode"], c["arm"]}] = c["verdict"]
	}
	paragraphs := map[string]string{}
	for _, l := range r.LaunchPaths {
		paragraphs[l.Case+" "+l.Cache] = l.Verdict
	}
	for _, p := range flat(t, r, report.LaunchPathsTable) {
		if p["arm"] == p["against"] || p["matched_mode"] == "" {
			continue
		}
		at := func(mode string) string { return verdicts[[4]string{p["case"], p["cache"], mode, p["arm"]}] }
		span, matched := at("span"), at(p["matched_mode"])
		if span != p["span_verdict"] || matched != p["matched_verdict"] {
			t.Errorf("%s %s: %s and %s, the comparison has %s and %s", p["case"], p["arm"], p["span_verdict"], p["matched_verdict"], span, matched)
		}
		want := answer(span, matched)
		name := strings.TrimSuffix(strings.TrimSuffix(p["arm"], "@torch"), "@exec")
		_, said, found := strings.Cut(paragraphs[p["case"]+" "+p["cache"]], want)
		said, _, _ = strings.Cut(said, ". ")
		words := strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" ,.:", r) })
		if !found || !slices.Contains(words, name) {
			t.Errorf("%s %s: %s is not under %q in: %s", p["case"], p["cache"], name, want, paragraphs[p["case"]+" "+p["cache"]])
		}
	}
}

// answer is what a paragraph says of an arm with these verdicts.
func answer(span, matched string) string {
	same := func(v string) bool { return v == "equivalent" || v == "indistinguishable" }
	advantage := map[string]string{"faster": "An advantage ", "slower": "A disadvantage "}
	switch {
	case span == "undecided" || matched == "undecided":
		return "Undecided"
	case same(span) && same(matched):
		return "No difference"
	case same(span):
		return advantage[matched] + "appears"
	case same(matched):
		return advantage[span] + "vanishes"
	case span == matched:
		return advantage[span] + "persists"
	}
	return advantage[span] + "reverses"
}

// everyTableIsCSV: a table that is drawn for people is there for programs too.
func everyTableIsCSV(t *testing.T, r *report.Report) {
	for _, id := range report.TableIDs() {
		o := report.RenderOptions{Tables: []string{id}}
		text, data := render(t, r, report.TableFormat, o), render(t, r, report.CSV, o)
		if (text == "") != (data == "") {
			t.Errorf("%s: %d bytes of text, %d of CSV", id, len(text), len(data))
		}
		if strings.Contains(data, "0xc0") {
			t.Errorf("%s has the address of a value: %.300s", id, data)
		}
	}
}
