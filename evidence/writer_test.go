package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// warned counts the lines that warnings of one kind concern, -1 for no warning.
func warned(r *Run, what string) int {
	n := -1
	for _, w := range r.Warnings {
		if w.What == what {
			n = max(n, 0) + w.Count
		}
	}
	return n
}

func TestWriteAndLoad(t *testing.T) {
	w := newRun(t, 3)
	if !regexp.MustCompile(`^\d{8}T\d{6}Z-[0-9a-f]{6}$`).MatchString(w.RunID()) {
		t.Errorf("run id %q", w.RunID())
	}
	if err := w.Event(Event{What: "round-disturbed", Case: caseA, Round: 2, Detail: "<5 & more"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Update(func(r *Record) { r.Versions = map[string]string{"python": "3.12"} }); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(Complete, ""); err != nil {
		t.Fatal(err)
	}
	if err := w.AppendRound(testRound(caseA, 9, 1, 5)); err == nil {
		t.Error("a finished run took a round")
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := w.Event(Event{What: "late"}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("event after Close: %v", err)
	}

	run, err := Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) != 0 {
		t.Errorf("warnings: %v", run.Warnings)
	}
	var want []Line
	for round := 1; round <= 3; round++ {
		lines := testRound(caseA, round, 1, 5)
		for i := range lines {
			lines[i].Session, lines[i].Part, lines[i].Of = 1, i+1, len(lines)
		}
		want = append(want, lines...)
	}
	if d := cmp.Diff(want, run.Lines); d != "" {
		t.Error(d)
	}
	rec := run.Record
	if rec.Status != Complete || rec.Sessions[0].Outcome != Complete || rec.Sessions[0].Ended.IsZero() || rec.Versions["python"] != "3.12" {
		t.Errorf("record: %+v", rec)
	}
	if d := cmp.Diff(w.Record(), *rec, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("record in memory and on disk: %s", d)
	}
	if len(run.Events) != 1 || run.Events[0].Detail != "<5 & more" || run.Events[0].Session != 1 {
		t.Errorf("events: %+v", run.Events)
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(w.Dir()), ".*"))
	inside, _ := os.ReadDir(w.Dir())
	if len(names) != 0 || len(inside) != 3 {
		t.Errorf("left over: %v %v", names, inside)
	}
}

// Whatever the package writes, encoding/json reads the same.
func TestLinesAreJSON(t *testing.T) {
	l := Line{Session: 3, Round: 2, Attempt: 1, Part: 1, Of: 1, Case: "c\"\\<é\u2028\x01", Arm: "a", Mode: "graph:100", Cache: "cold", Unit: "us",
		ReplayUS: []float64{0, math.Copysign(0, -1)},
		Samples:  []float64{1, 1e21, 1e-7, 123456.7, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1 << 53, 1<<53 + 2, -1.5e-300}}
	b, err := appendLine(nil, &l)
	if err != nil {
		t.Fatal(err)
	}
	var got Line
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(l, got); d != "" {
		t.Error(d)
	}
}

func TestAppendRoundRefuses(t *testing.T) {
	w := newRun(t, 1)
	before, _ := os.ReadFile(filepath.Join(w.Dir(), SamplesFile))
	var value *ValueError
	var duplicate *DuplicateError
	for name, c := range map[string]struct {
		change func(l []Line) []Line
		as     any
		text   string
	}{
		"NaN":         {func(l []Line) []Line { l[1].Samples[2] = math.NaN(); return l }, &value, "samples[2] is NaN"},
		"infinite":    {func(l []Line) []Line { l[1].ReplayUS = []float64{math.Inf(1)}; return l }, &value, "replay_us[0] is +Inf"},
		"power":       {func(l []Line) []Line { l[1].After.PowerW = ptr(math.NaN()); return l }, &value, "device state"},
		"no samples":  {func(l []Line) []Line { l[0].Samples = nil; return l }, &value, "empty"},
		"unit":        {func(l []Line) []Line { l[0].Unit = "ms"; return l }, &value, "microseconds"},
		"empty":       {func(l []Line) []Line { return nil }, nil, "no lines"},
		"no arm":      {func(l []Line) []Line { l[0].Arm = ""; return l }, nil, "lacks"},
		"round 0":     {func(l []Line) []Line { l[0].Round = 0; return l }, nil, "from 1"},
		"two rounds":  {func(l []Line) []Line { l[2].Round = 9; return l }, nil, "another"},
		"twice in it": {func(l []Line) []Line { return append(l, l[0]) }, &duplicate, "already holds"},
		"twice":       {func(l []Line) []Line { return testRound(caseA, 1, 1, 5) }, &duplicate, "round 1, attempt 1"},
	} {
		err := w.AppendRound(c.change(testRound(caseA, 2, 1, 5)))
		if err == nil || !strings.Contains(err.Error(), c.text) || (c.as != nil && !errors.As(err, c.as)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, _ := os.ReadFile(filepath.Join(w.Dir(), SamplesFile))
	if string(before) != string(after) {
		t.Error("a refused round left something behind")
	}
	if err := w.AppendRound(testRound(caseA, 2, 1, 5)); err != nil {
		t.Errorf("a good round after refused ones: %v", err)
	}
}

func TestRefusedUpdateIsUndone(t *testing.T) {
	w := newRun(t, 0)
	before := w.Record()
	var value *ValueError
	err := w.Update(func(r *Record) {
		r.Entries[1].Gates[0].MaxAbsError = math.NaN()
		r.Entries[0].Error = "half"
	})
	if !errors.As(err, &value) || value.Field != "entries[1].gates[0].max_abs_error" {
		t.Fatalf("%v", err)
	}
	if d := cmp.Diff(before, w.Record()); d != "" {
		t.Error(d)
	}
}

func TestCreateRefuses(t *testing.T) {
	for _, ns := range []string{"", "..", "a/b", ".hidden", "a b"} {
		if _, err := Create(t.TempDir(), ns, testRecord()); err == nil || !strings.Contains(err.Error(), "namespace") {
			t.Errorf("namespace %q: %v", ns, err)
		}
	}
	root := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(root, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(root, "n", testRecord()); err == nil {
		t.Error("created a record below a file")
	}
	if os.Geteuid() != 0 {
		dir := t.TempDir()
		os.Chmod(dir, 0o555)
		if _, err := Create(dir, "n", testRecord()); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("unwritable directory: %v", err)
		}
	}
	dir := t.TempDir()
	rec := testRecord()
	rec.Plan.Margin = math.Inf(1)
	if _, err := Create(dir, "n", rec); err == nil {
		t.Error("created a record with an infinite margin")
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "n")); len(left) != 0 {
		t.Errorf("a refused record left %v", left)
	}
}

func TestOneWriterOnly(t *testing.T) {
	w := newRun(t, 1)
	var locked *LockedError
	if _, _, err := Resume(w.Dir()); !errors.As(err, &locked) {
		t.Errorf("resumed a run that is being written: %v", err)
	}
	w.Close()
	again, _, err := Resume(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// BenchmarkAppend appends rounds, each synced. Small rounds show the disk's sync,
// large ones the encoding.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []struct{ lines, samples int }{{6, 20}, {6, 100}, {60, 20}, {60, 100}, {6, 1000}} {
		b.Run(fmt.Sprintf("lines=%d/samples=%d", size.lines, size.samples), func(b *testing.B) {
			w, err := Create(b.TempDir(), "bench", testRecord())
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			var lines []Line
			for i := 0; len(lines) < size.lines; i++ {
				for _, l := range testRound(caseA, 1, 1, size.samples) {
					l.Arm += fmt.Sprint(i)
					lines = append(lines, l)
				}
			}
			for i := 0; b.Loop(); i++ {
				for k := range lines {
					lines[k].Round = i + 1
				}
				if err := w.AppendRound(lines); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*len(lines)*size.samples)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
