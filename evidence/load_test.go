package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// change rewrites one file of a finished run's directory.
func change(t *testing.T, dir, name string, edit func(string) string) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(edit(string(data))), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

func TestLoadErrors(t *testing.T) {
	var notRecord *NotRecordError
	var schema *SchemaError
	var corrupt *CorruptError
	var missing *MissingError
	var duplicate *DuplicateError
	for name, c := range map[string]struct {
		file string
		edit func(string) string // nil removes the file
		as   any
		text string
	}{
		"no record":       {RecordFile, nil, &notRecord, "it holds no record.json"},
		"another JSON":    {RecordFile, func(string) string { return `{"a": 1}` }, &notRecord, "no schema version"},
		"newer schema":    {RecordFile, replace(`"schema": 1`, `"schema": 7`), &schema, "schema 7, this mage reads schemas up to 1: use a newer mage"},
		"newer and other": {RecordFile, func(string) string { return `{"schema": 2, "plan": "of another type"}` }, &schema, "schema 2"},
		"empty record":    {RecordFile, func(string) string { return "" }, &corrupt, "record.json:1"},
		"broken record":   {RecordFile, replace(`"tool": {`, `"tool": }`), &corrupt, "record.json:8"},
		"cut record":      {RecordFile, func(s string) string { return s[:len(s)/2] }, &corrupt, "unexpected end"},
		"type in record":  {RecordFile, replace(`"cores": 2`, `"cores": "two"`), &corrupt, "host.cores"},
		"no samples":      {SamplesFile, nil, &missing, "has lost its samples.jsonl"},
		"line in middle":  {SamplesFile, replace(`"order":1`, `"order":x`), &corrupt, "samples.jsonl:2: corrupt at byte"},
		"lost line":       {SamplesFile, func(s string) string { i := strings.Index(s, "\n"); return s[i+1:] }, &corrupt, "part 2 of 6 without the parts before"},
		"lost middle line": {SamplesFile, func(s string) string {
			l := strings.SplitAfter(s, "\n")
			return strings.Join(append(l[:2:2], l[3:]...), "")
		}, &corrupt, "ends after 2 of 6"},
		"zeroed middle":    {SamplesFile, replace(`"case":"`+caseA, strings.Repeat("\x00", 50)), &corrupt, "samples.jsonl:1"},
		"binary":           {SamplesFile, func(string) string { return strings.Repeat("\x00\xff\n", 50) }, &corrupt, "no line of it"},
		"a number in text": {SamplesFile, replace(`"round":1`, `"round":"1"`), &corrupt, "samples.jsonl:1"},
		"twice":            {SamplesFile, func(s string) string { return s + s }, &duplicate, "samples.jsonl:19: repeats case gelu"},
		"broken event":     {EventsFile, func(s string) string { return "{}\nx\n" + s }, &corrupt, "events.jsonl:2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRun(t, 3)
			w.Event(Event{What: "e"})
			w.Close()
			if c.edit == nil {
				os.Remove(filepath.Join(w.Dir(), c.file))
			} else {
				change(t, w.Dir(), c.file, c.edit)
			}
			_, err := Load(w.Dir())
			if err == nil || !errors.As(err, c.as) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%T %v", err, err)
			}
			if _, _, again := Resume(w.Dir()); again == nil || again.Error() != err.Error() {
				t.Errorf("resume says %v", again)
			}
			if w, _, _ := Resume(w.Dir()); w != nil {
				t.Error("a writer came with the error")
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "nowhere")); !errors.As(err, &notRecord) || !strings.Contains(err.Error(), "no such directory") {
		t.Errorf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := Load(file); !errors.As(err, &notRecord) || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("%v", err)
	}
	w := newRun(t, 1)
	os.Remove(filepath.Join(w.Dir(), SamplesFile))
	if _, err := Load(w.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestLoadWarnings(t *testing.T) {
	w := newRun(t, 2)
	if run, err := Load(w.Dir()); err != nil || warned(run, NotFinished) < 0 {
		t.Errorf("a running record: %v", err)
	}
	w.Finish(Incomplete, "interrupted")
	w.Close()
	os.Remove(filepath.Join(w.Dir(), EventsFile))
	change(t, w.Dir(), RecordFile, replace(`name = \"test\"`, `name = \"other\"`))
	change(t, w.Dir(), RecordFile, replace(`"id": "`+testArms[0], `"id": "renamed`))
	run, err := Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{NoEvents: 0, SpecHash: 0, UnknownCell: 4, StoppedEarly: 0} {
		if warned(run, what) != n {
			t.Errorf("%s concerns %d lines, want %d: %v", what, warned(run, what), n, run.Warnings)
		}
	}
}

// Lines that another tool has rewritten (jq -c, json.dumps) load all the same.
func TestLoadOtherSpelling(t *testing.T) {
	w := newRun(t, 0)
	w.Close()
	line := `{"samples": [ 1, 2.50 ,-3e-1,1E+2, 0 ], "of": 1, "part": 1, "session": 1, "round": 1, "attempt": 1, "order": 0,
		"case": "c\u0041\"{[", "unknown": {"samples": ["]", "}"], "x": [[]]}, "arm": "a", "mode": "span", "cache": "hot",
		"instrument": "cuda-event", "unit": "us", "operations": 1, "before": {}, "after": { "throttle": ["\\"] }, "replay_us": null}`
	line = strings.ReplaceAll(line, "\n", " ") + "\r\n\n"
	os.WriteFile(filepath.Join(w.Dir(), SamplesFile), []byte(line), 0o644)
	run, err := Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	l := run.Lines[0]
	if fmt.Sprint(l.Samples) != "[1 2.5 -0.3 100 0]" || l.Case != "cA\"{[" || l.After.Throttle[0] != "\\" || l.ReplayUS != nil || len(run.Lines) != 1 {
		t.Errorf("%+v", l)
	}
}

func TestRoundsThatCount(t *testing.T) {
	w := newRun(t, 1)
	for _, lines := range [][]Line{
		testRound(caseA, 2, 1, 3, "clock-drift"), testRound(caseA, 2, 2, 4),
		testRound(caseA, 3, 1, 3, "throttle"), testRound(caseA, 3, 2, 3, "throttle", "company"),
		testRound(caseB, 1, 1, 3),
	} {
		if err := w.AppendRound(lines); err != nil {
			t.Fatal(err)
		}
	}
	one := testRound(caseA, 4, 1, 3)
	one[4].Disturbed = []string{"clock-drift"} // of batch:100
	if err := w.AppendRound(one); err != nil {
		t.Fatal(err)
	}
	w.Close()
	_, state, err := Resume(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	latency, batch := Cell{caseA, "latency", "hot"}, Cell{caseA, "batch:100", "hot"}
	if c := state.Cells(); len(c) != 4 || c[0] != latency || c[1] != batch {
		t.Errorf("cells: %v", c)
	}
	text := func(rounds []Round) string {
		var s []string
		for _, r := range rounds {
			s = append(s, fmt.Sprintf("%d.%d:%d×%d", r.Round, r.Attempt, len(r.Lines), len(r.Line(testArms[1]).Samples)))
		}
		return strings.Join(s, " ")
	}
	for got, want := range map[string]string{
		text(state.Rounds(latency)):                        "1.1:3×5 2.2:3×4 4.1:3×3",
		text(state.Rounds(batch)):                          "1.1:3×5 2.2:3×4",
		text(state.Attempts(latency)):                      "1.1:3×5 2.1:3×3 2.2:3×4 3.1:3×3 3.2:3×3 4.1:3×3",
		fmt.Sprint(state.Attempts(latency)[4].Disturbed()): "[throttle company]",
		fmt.Sprint(state.Arms(latency)):                    fmt.Sprint(testArms),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if r := state.Rounds(latency)[0]; r.Line("nobody") != nil || r.Session != 1 {
		t.Errorf("%+v", r)
	}
	for round, want := range map[int]string{1: "1 true", 2: "2 true", 3: "2 false", 4: "1 false", 5: "0 false"} {
		if attempts, done := state.Complete(caseA, round); fmt.Sprint(attempts, done) != want {
			t.Errorf("round %d: %d %v, want %s", round, attempts, done, want)
		}
	}
	if !state.Done(latency, 4) || state.Done(batch, 4) || state.Done(latency, 3) {
		t.Error("done")
	}
}

func BenchmarkLoad(b *testing.B) {
	const total = 1_000_000
	for _, samples := range []int{20, 100, 1000} {
		b.Run(fmt.Sprintf("samples=%d", samples), func(b *testing.B) {
			w := newRun(b, 0)
			w.Close()
			var data []byte
			lines, n := 0, 0
			for round := 1; n < total; round++ {
				ls := testRound(caseA, round, 1, samples)
				for i := range ls {
					ls[i].Session, ls[i].Part, ls[i].Of = 1, i+1, len(ls)
					data, _ = appendLine(data, &ls[i])
				}
				lines += len(ls)
				n += len(ls) * samples
			}
			if err := os.WriteFile(filepath.Join(w.Dir(), SamplesFile), data, 0o644); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				run, err := Load(w.Dir())
				if err != nil || len(run.Lines) != lines {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
