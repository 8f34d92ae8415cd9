package ancestor_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mage/ancestor"
	"mage/evidence"
	"mage/evidence/schema"
)

func load(t *testing.T, dir string) *evidence.Run {
	t.Helper()
	run, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) > 0 {
		t.Error(run.Warnings)
	}
	if err := schema.ValidateRun(dir); err != nil {
		t.Error(err)
	}
	return run
}

// TestResults finds every published number in the record, in its place.
func TestResults(t *testing.T) {
	root := t.TempDir()
	records := importBoth(t, root)
	if filepath.Dir(records[0].Dir) != filepath.Join(root, "example-001-comparison") {
		t.Error(records[0].Dir)
	}
	run, source := load(t, records[0].Dir), read(t, "comparison-results.json")
	found := 0
	for i, r := range source["results"].([]any) {
		for j, round := range at(r, "rounds").([]any) {
			for place, name := range at(round, "order").([]any) {
				want := at(round, "implementations", name).(doc)
				k := slices.IndexFunc(run.Lines, func(l evidence.Line) bool {
					return l.Case == run.Record.Cases[i].ID && l.Round == j+1 && strings.HasPrefix(l.Arm, name.(string)+"@")
				})
				if k < 0 {
					t.Fatalf("no line of %v, round %d, %v", at(r, "op"), j, name)
				}
				l := run.Lines[k]
				var samples []any
				for _, us := range l.Samples {
					samples = append(samples, us)
				}
				if !slices.Equal(samples, at(want, "samples_us").([]any)) || l.Order != place || l.Mode != "span" || l.Instrument != "cuda-event" ||
					l.Cache != "hot" || *l.Before.TemperatureC != 36+j || *l.Before.SMClockMHz != 2520 || *l.Before.UtilisationPct != 20+j || l.Before.PowerW != nil {
					t.Errorf("%+v", l)
				}
				found++
			}
		}
	}
	if found != 27 || len(run.Lines) != 27 {
		t.Error(found, "lines of", len(run.Lines))
	}
	rec := run.Record
	c := rec.Cases[1]
	if c.ID != "matmul/fp32/M=1024,N=1024,K=1024" || c.FLOPs != 2*1024*1024*1024 || c.Seed != 20260910 || len(c.InputSHA256) != 2 || c.Tolerance.Rtol != 1e-4 {
		t.Errorf("%+v", c)
	}
	if rec.Cases[2].CompulsoryBytes != 0 {
		t.Error("the bytes of a graph that is not known: ", rec.Cases[2].CompulsoryBytes)
	}
	for _, e := range rec.Entries {
		if len(e.Gates) != 3 || !e.Gates[2].Passed || e.Gates[2].MaxRelError != nil || e.Gates[0].Checked == 0 {
			t.Errorf("%+v", e.Gates)
		}
		if native := e.Arm == "rust@exec"; native != (e.Identity.BinarySHA256 == source["binary_sha256"]) ||
			native != strings.Contains(e.Identity.Notes["run_ids"], ", ") {
			t.Errorf("%s: %+v", e.Arm, e.Identity)
		}
	}
	if i := rec.Imported; i.Experiment != "example-001-comparison" || i.Measured.Format("15:04:05") != "09:30:25" || len(i.Excluded) != 3 ||
		len(i.Sources) != 2 || i.Format != ancestor.Results {
		t.Errorf("%+v", i)
	}
	if rec.Host.Cores != 0 || rec.Host.Arch != "amd64" || rec.Versions["torch"] != "2.9.1+cu128" || rec.Plan.Warmup != 2 {
		t.Errorf("%+v %v", rec.Host, rec.Versions)
	}
}

// TestOriginal keeps the file, and says which of its fields are only there.
func TestOriginal(t *testing.T) {
	records := importBoth(t, t.TempDir())
	for i, name := range []string{"comparison-results.json", "comparison-profiles.json"} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(records[i].Dir, evidence.OriginalDir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Error(name, "was not kept:", err)
		}
	}
	var paths []string
	for _, r := range records {
		for _, u := range load(t, r.Dir).Record.Imported.Unread {
			paths = append(paths, u.Path)
		}
	}
	want := []string{
		"gpu_state_before", "results[].rounds[].implementations.rust.variant", "results[].rounds[].implementations.rust.variant_kernel",
		"gpu_state_after", "captures[].session_id", "captures[].report_dir"}
	if !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}
}

// An unknown field, even with a machine's path in it, is kept: in the original as
// it is, in the record without the path.
func TestUnknownFields(t *testing.T) {
	d := read(t, "comparison-results.json")
	d["notes"] = doc{"by": "/home/somebody/lab/run.py", "long": strings.Repeat("x", 5000), "deep": []any{1, doc{"<a>": nil}}}
	at(d, "results", 0).(doc)["tuning"] = 3.25
	records, err := ancestor.Import([]string{write(t, t.TempDir(), "r.json", d)}, ancestor.Options{Results: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	unread := load(t, records[0].Dir).Record.Imported.Unread
	find := func(path string) evidence.Unread {
		for _, u := range unread {
			if u.Path == path {
				return u
			}
		}
		t.Fatal("no ", path, " in ", unread)
		return evidence.Unread{}
	}
	if u := find("notes"); strings.Contains(u.Detail, "somebody") || !strings.Contains(u.Detail, `[1,{"<a>":null}]`) || len(u.Detail) > 500 {
		t.Errorf("%+v", u)
	}
	if u := find("results[].tuning"); u.Detail != "3.25" || u.Count != 1 {
		t.Errorf("%+v", u)
	}
	if u := find("results[].rounds[].implementations.rust.variant"); u.Detail != `"committed"` || u.Count != 9 {
		t.Errorf("%+v", u)
	}
}

func TestProfiles(t *testing.T) {
	run := load(t, importBoth(t, t.TempDir())[1].Dir)
	if len(run.Lines) != 9 {
		t.Fatal(len(run.Lines), "lines")
	}
	for _, c := range read(t, "comparison-profiles.json")["captures"].([]any) {
		total := 0.0
		for _, m := range at(c, "kernel_metrics").([]any) {
			total += at(m, "duration_us").(float64)
		}
		i := slices.IndexFunc(run.Lines, func(l evidence.Line) bool {
			return strings.HasPrefix(l.Case, at(c, "operation").(string)+"/") && strings.HasPrefix(l.Arm, at(c, "language").(string)+"@")
		})
		l := run.Lines[i]
		sum := 0.0
		for _, us := range l.Samples {
			sum += us
		}
		if math.Abs(sum-total) > 1e-9*total || len(l.Samples) != 5 || l.Launches != len(at(c, "kernel_names").([]any)) ||
			l.Mode != "kernel" || l.Instrument != "nsys" || l.Operations != 1 {
			t.Errorf("%v, want a sum of %v", l, total)
		}
	}
	// One operation is the sum of its kernels, not their mean.
	first := at(read(t, "comparison-profiles.json"), "captures", 0, "kernel_metrics").([]any)
	if got, want := run.Lines[0].Samples[0], at(first, 0, "duration_us").(float64)+at(first, 1, "duration_us").(float64); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	for _, e := range run.Record.Entries {
		if len(e.Gates) != 0 || !strings.Contains(e.Identity.Notes["kernels"], "<<<3072,1,1; 256,1,1>>> 24 registers, 0 B shared") {
			t.Errorf("%+v", e)
		}
		if single := !strings.HasPrefix(e.Arm, "python") || strings.HasPrefix(e.Case, "matmul"); single != (e.Identity.Grid != nil) {
			t.Errorf("%s %s: grid %v", e.Case, e.Arm, e.Identity.Grid)
		}
	}
}

// Where launches cannot be told apart by operation, their mean per operation is
// the one thing that is known.
func TestUnevenLaunches(t *testing.T) {
	for name, change := range map[string]func(c doc, metrics []any){
		"a launch more": func(c doc, m []any) { c["kernel_metrics"], c["launches"] = append(m, m[0]), 16 },
		"another order": func(c doc, m []any) { m[3], m[4] = m[4], m[3] },
	} {
		d := read(t, "comparison-profiles.json")
		c := at(d, "captures", 6).(doc)
		change(c, c["kernel_metrics"].([]any))
		total := 0.0
		for _, m := range c["kernel_metrics"].([]any) {
			total += at(m, "duration_us").(float64)
		}
		records, err := ancestor.Import([]string{write(t, t.TempDir(), "p.json", d), "testdata/comparison-results.json"}, ancestor.Options{Results: t.TempDir()})
		if err != nil {
			t.Fatal(name, err)
		}
		l := load(t, records[0].Dir).Lines[6]
		if len(l.Samples) != 1 || math.Abs(l.Samples[0]-total/5) > 1e-9 || l.Operations != 5 || l.Launches != 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestImportOnce(t *testing.T) {
	root := t.TempDir()
	importBoth(t, root)
	for _, file := range []string{"testdata/comparison-results.json", "testdata/comparison-profiles.json"} {
		_, err := ancestor.Import([]string{file}, ancestor.Options{Results: root})
		if known := new(ancestor.KnownError); !errors.As(err, &known) || !strings.Contains(err.Error(), root) {
			t.Error(err)
		}
	}
	_, err := ancestor.Import([]string{"testdata/comparison-results.json", "testdata/../testdata/comparison-results.json"}, ancestor.Options{Results: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "are the same file") {
		t.Error(err)
	}
}

// Profiles find the results that were imported before, in the namespace.
func TestProfilesAfterResults(t *testing.T) {
	for _, namespace := range []string{"", "mine"} {
		o := ancestor.Options{Results: t.TempDir(), Namespace: namespace}
		if _, err := ancestor.Import([]string{"testdata/comparison-results.json"}, o); err != nil {
			t.Fatal(err)
		}
		records, err := ancestor.Import([]string{"testdata/comparison-profiles.json"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if rec := load(t, records[0].Dir).Record; rec.Imported.Format != ancestor.Profiles || len(rec.Cases) != 3 {
			t.Errorf("%+v", rec.Imported)
		}
	}
}

// An operation that mage has no contract of keeps its numbers.
func TestUnknownOperation(t *testing.T) {
	d := read(t, "comparison-results.json")
	at(d, "results", 0).(doc)["op"] = "softmax"
	for _, r := range at(d, "results", 0, "rounds").([]any) {
		delete(at(r, "implementations", "rust").(doc), "op")
	}
	records, err := ancestor.Import([]string{write(t, t.TempDir(), "r.json", d)}, ancestor.Options{Results: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := load(t, records[0].Dir).Record.Cases[0]
	if c.ID != "softmax/fp32/d1=4096,d2=768" || c.FLOPs != 0 {
		t.Errorf("%+v", c)
	}
}
