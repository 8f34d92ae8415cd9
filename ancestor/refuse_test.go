package ancestor_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/ancestor"
)

type doc = map[string]any

// at walks into a document: names and indices.
func at(v any, steps ...any) any {
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			v = v.(doc)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	return v
}

func read(t testing.TB, name string) doc {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var d doc
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t testing.TB, dir, name string, content any) string {
	t.Helper()
	data, isText := content.([]byte)
	if !isText {
		var err error
		if data, err = json.MarshalIndent(content, "", " "); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// refused imports files of which one must be refused at a place, and finds that
// nothing was written.
func refused(t *testing.T, path, problem string, files ...string) {
	t.Helper()
	results := filepath.Join(t.TempDir(), "results")
	_, err := ancestor.Import(files, ancestor.Options{Results: results})
	bad := new(ancestor.Error)
	if !errors.As(err, &bad) || bad.Path != path || !strings.Contains(bad.Problem, problem) || bad.Line < 1 || bad.Column < 1 {
		t.Errorf("%v\nwant %s: …%s…", err, path, problem)
	} else if strings.Contains(err.Error(), "\n") {
		t.Errorf("not one line: %q", err)
	}
	if _, err := os.Stat(results); err == nil {
		t.Error("something was written")
	}
}

func TestResultsRefused(t *testing.T) {
	op := func(d doc) doc { return at(d, "results", 1).(doc) }
	round := func(d doc) doc { return at(d, "results", 1, "rounds", 2).(doc) }
	cell := func(d doc, name string) doc { return at(round(d), "implementations", name).(doc) }
	const (
		inOp    = "results[1]"
		inRound = inOp + ".rounds[2]"
		inCell  = inRound + ".implementations."
	)
	for _, c := range []struct {
		change        func(doc)
		path, problem string
	}{
		{func(d doc) { delete(d, "gpu") }, "", `has no "gpu"`},
		{func(d doc) { d["gpu"] = nil }, "gpu", "is null"},
		{func(d doc) { d["gpu"] = 4090 }, "gpu", "is a number, not a text"},
		{func(d doc) { d["experiment_id"] = "../x" }, "experiment_id", "--namespace"},
		{func(d doc) { d["utc"] = "yesterday" }, "utc", "is not a time"},
		{func(d doc) { d["timing"] = "wall clock" }, "timing", "only spans between CUDA events"},
		{func(d doc) { d["precision"] = "double" }, "precision", "does not begin with fp32"},
		{func(d doc) { d["rounds"] = 4 }, "results[0].rounds", "holds 3 rounds, where rounds of the file is 4"},
		{func(d doc) { d["rounds"] = 2.5 }, "rounds", "is 2.5, not a count"},
		{func(d doc) { d["iterations_per_round"] = 0 }, "iterations_per_round", "less than 1"},
		{func(d doc) { d["results"] = []any{} }, "results", "is empty"},
		{func(d doc) { d["results"] = doc{} }, "results", "is an object, not a list"},
		{func(d doc) { d["source_sha256"].(doc)["src/main.rs"] = "abc" }, `source_sha256["src/main.rs"]`, "is not a SHA-256"},
		{func(d doc) { d["binary_sha256"] = strings.Repeat("A", 64) }, "binary_sha256", "is not a SHA-256"},
		{func(d doc) { op(d)["dims"] = []any{1024, 1024} }, inOp + ".dims", "holds 2 numbers, where matmul has the dims M, N, K"},
		{func(d doc) { op(d)["dims"] = []any{1024, 1024, 0} }, inOp + ".dims", "matmul:"},
		{func(d doc) { at(op(d), "input_hashes").(doc)["seed"] = -1 }, inOp + ".input_hashes.seed", "is -1, less than 0"},
		{func(d doc) { at(op(d), "input_hashes", "sha256").(doc)["a.bin"] = strings.Repeat("0", 63) }, inOp + `.input_hashes.sha256["a.bin"]`, "is not a SHA-256"},
		{func(d doc) { d["results"] = append(d["results"].([]any), op(d)) }, "results[3]", "is matmul at the same dims once more"},
		{func(d doc) { op(d)["rounds"] = at(op(d), "rounds").([]any)[:2] }, inOp + ".rounds", "holds 2 rounds"},
		{func(d doc) { round(d)["index"] = 0 }, inRound + ".index", "is 0, where the round's place in the list is 2"},
		{func(d doc) { round(d)["order"] = []any{"rust", "python", "tritno"} }, inRound + ".order[2]", `names "tritno", which is not among the implementations`},
		{func(d doc) { round(d)["order"] = []any{"rust", "python", "rust"} }, inRound + ".order[2]", `names "rust" twice`},
		{func(d doc) { round(d)["order"] = []any{"rust", "python"} }, inCell + "triton", "is not named by the order"},
		{func(d doc) {
			round(d)["order"] = []any{"rust", "python"}
			delete(round(d)["implementations"].(doc), "triton")
		}, inRound + ".order", "an implementation must be in every round"},
		{func(d doc) { cell(d, "rust")["samples_us"] = at(cell(d, "rust"), "samples_us").([]any)[1:] }, inCell + "rust.samples_us", "holds 4 samples, where iterations_per_round is 5"},
		{func(d doc) { at(cell(d, "rust"), "samples_us").([]any)[3] = -4.5 }, inCell + "rust.samples_us[3]", "is -4.5, less than 0"},
		{func(d doc) { at(cell(d, "rust"), "samples_us").([]any)[3] = 0 }, inCell + "rust.samples_us[3]", "no operation takes no time"},
		{func(d doc) { at(cell(d, "rust"), "samples_us").([]any)[3] = "4.5" }, inCell + "rust.samples_us[3]", "is a text, not a number"},
		{func(d doc) { cell(d, "rust")["event_mean_us"] = 350.0 }, inCell + "rust.event_mean_us", "but the mean of the samples is"},
		{func(d doc) { cell(d, "python")["event_median_us"] = 350.0 }, inCell + "python.event_median_us", "but the median of the samples is"},
		{func(d doc) { cell(d, "python")["iterations"] = 6 }, inCell + "python.iterations", "is 6, where iterations_per_round is 5"},
		{func(d doc) { cell(d, "python")["warmup"] = 1 }, inCell + "python.warmup", "is 1, where warmup_per_round is 2"},
		{func(d doc) { delete(cell(d, "python"), "correctness") }, inCell + "python", `has no "correctness"`},
		{func(d doc) { at(cell(d, "python"), "correctness").(doc)["passed"] = false }, inCell + "python.correctness.passed", "the output was wrong"},
		{func(d doc) { at(cell(d, "python"), "correctness").(doc)["passed"] = 1 }, inCell + "python.correctness.passed", "is a number, not true or false"},
		{func(d doc) { at(cell(d, "python"), "correctness").(doc)["max_abs_error"] = -1 }, inCell + "python.correctness.max_abs_error", "less than 0"},
		{func(d doc) { at(cell(d, "python"), "correctness").(doc)["rtol"] = 0.5 }, inCell + "python.correctness", "has rtol 0.5"},
		{func(d doc) { at(cell(d, "python"), "correctness").(doc)["checked_elements"] = 7 }, inCell + "python.correctness.checked_elements", "is 7, where the number of output elements is 1048576"},
		{func(d doc) { cell(d, "rust")["op"] = "gelu" }, inCell + "rust.op", `is "gelu" in the results of "matmul"`},
		{func(d doc) { cell(d, "rust")["dims"] = []any{1024, 512, 1024} }, inCell + "rust.dims[1]", "is 512, where that of the operation is 1024"},
		{func(d doc) { cell(d, "rust")["capture"] = true }, inCell + "rust.capture", "under a profiler"},
	} {
		d := read(t, "comparison-results.json")
		c.change(d)
		refused(t, c.path, c.problem, write(t, t.TempDir(), "r.json", d))
	}
}

func TestProfilesRefused(t *testing.T) {
	const in = "captures[6]" // neighbor, python: three kernels
	capture := func(d doc) doc { return at(d, "captures", 6).(doc) }
	launch := func(d doc) doc { return at(capture(d), "kernel_metrics", 4).(doc) }
	for _, c := range []struct {
		change        func(doc)
		path, problem string
	}{
		{func(d doc) { d["backend"] = "guess" }, "backend", "want one of nsys, ncu, cupti"},
		{func(d doc) { delete(d, "backend") }, "", `has no "backend"`},
		{func(d doc) { d["captures"] = []any{} }, "captures", "is empty"},
		{func(d doc) { d["experiment_id"] = "other" }, "", "says no shapes: give the comparison-results.json of other"},
		{func(d doc) { capture(d)["status"] = "failed" }, in + ".status", "only complete captures"},
		{func(d doc) { capture(d)["launches"] = 14 }, in + ".launches", "is 14, but kernel_metrics holds 15"},
		{func(d doc) { capture(d)["requested_iterations"] = 0 }, in + ".requested_iterations", "less than 1"},
		{func(d doc) { capture(d)["backend"] = "ncu" }, in + ".backend", `is "ncu", that of the file is "nsys"`},
		{func(d doc) { capture(d)["operation"] = "conv" }, in + ".operation", `is "conv", which the results of "example-001-comparison" do not hold`},
		{func(d doc) { capture(d)["language"] = "go" }, in + ".language", `is "go", which the results`},
		{func(d doc) { capture(d)["operation"] = "matmul" }, in, "is matmul in python once more"},
		{func(d doc) { launch(d)["duration_us"] = -0.5 }, in + ".kernel_metrics[4].duration_us", "is -0.5, less than 0"},
		{func(d doc) { delete(launch(d), "duration_us") }, in + ".kernel_metrics[4]", `has no "duration_us"`},
		{func(d doc) { launch(d)["kernel_name"] = "" }, in + ".kernel_metrics[4].kernel_name", "is empty"},
		{func(d doc) { launch(d)["kernel_name"] = "x" }, in + ".kernel_names", `lacks "x" of kernel_metrics`},
		{func(d doc) { launch(d)["grid_size"] = "12,1" }, in + ".kernel_metrics[4].grid_size", `is "12,1", not x,y,z`},
		{func(d doc) { launch(d)["block_size"] = "0,1,1" }, in + ".kernel_metrics[4].block_size", "not x,y,z"},
		{func(d doc) { launch(d)["registers_per_thread"] = 2.5 }, in + ".kernel_metrics[4].registers_per_thread", "not a count"},
		{func(d doc) { capture(d)["kernel_names"] = append(capture(d)["kernel_names"].([]any), "y") }, in + ".kernel_names[3]", `is "y", which kernel_metrics does not hold`},
		{func(d doc) {
			for _, l := range at(capture(d), "kernel_metrics").([]any) {
				l.(doc)["duration_us"] = 0
			}
		}, in + ".kernel_metrics", "no time at all"},
	} {
		d := read(t, "comparison-profiles.json")
		c.change(d)
		refused(t, c.path, c.problem, write(t, t.TempDir(), "p.json", d), "testdata/comparison-results.json")
	}
	refused(t, "", "says no shapes", "testdata/comparison-profiles.json")
}

// TestTextRefused finds the place of what is no JSON.
func TestTextRefused(t *testing.T) {
	good, err := os.ReadFile("testdata/comparison-results.json")
	if err != nil {
		t.Fatal(err)
	}
	sample := strings.Index(string(good), `"samples_us": [`) + len(`"samples_us": [`)
	line := strings.Count(string(good[:sample]), "\n") + 2
	with := func(s string) []byte { // in place of the first sample
		end := sample + strings.IndexByte(string(good[sample:]), ',')
		return []byte(string(good[:sample]) + "\n" + s + string(good[end:]))
	}
	const first = "results[0].rounds[0].implementations.python.samples_us[0]"
	for _, c := range []struct {
		text         []byte
		path, want   string
		line, column int
	}{
		{nil, "", "the file ends too early", 1, 1},
		{[]byte("[1, 2]"), "", "is a list, not an object", 1, 1},
		{[]byte(`{"a": 1}`), "", "is neither a comparison-results.json", 1, 1},
		{[]byte(`{"results": [], "captures": []}`), "", "is neither", 1, 1},
		{[]byte(`{"a": 1, "a": 2}`), "a", "occurs twice", 1, 10},
		{[]byte("{\"a\": 1}\n{}"), "", "something follows", 2, 1},
		{[]byte("{\"results\":\n  [tru]}"), "results[0]", "invalid character", 2, 4},
		{[]byte(strings.Repeat("[", 200)), strings.Repeat("[0]", 65), "nested deeper", 1, 66},
		{with("  NaN"), first, "is not a finite number", line, 3},
		{with("-Infinity"), first, "is not a finite number", line, 1},
		{with("1e999"), first, "beyond what a number can be", line, 1},
		{good[:len(good)/2], "", "the file ends too early", 0, 0},
	} {
		path := write(t, t.TempDir(), "x.json", c.text)
		_, err := ancestor.Import([]string{path}, ancestor.Options{Results: filepath.Join(t.TempDir(), "r")})
		bad := new(ancestor.Error)
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, c.want) || c.line > 0 && (bad.Line != c.line || bad.Column != c.column || bad.Path != c.path) {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
}
