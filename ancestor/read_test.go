package ancestor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mage/evidence"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// judge reads a file as Import does, and returns what it says. What is accepted
// makes a record; what is refused has a place.
func judge(t *testing.T, data []byte, base *evidence.Record) string {
	s, err := read("x.json", data)
	if err == nil {
		switch {
		case s.results != nil:
			s.draft = s.results.draft(s.imported)
		default:
			if s.draft = s.profiles.draft(s.file, s.imported, base); s.file.err != nil {
				err = s.file.err
			}
		}
	}
	if err != nil {
		bad, located := err.(*Error)
		if !located || bad.Line < 1 || bad.Column < 1 || bad.Problem == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("no place: %v", err)
		}
		return err.Error()
	}
	if len(s.draft.rounds) == 0 || len(s.draft.record.Arms) == 0 {
		t.Errorf("an empty record: %+v", s.draft)
	}
	return ""
}

func baseOf(t testing.TB) *evidence.Record {
	s, err := read("comparison-results.json", sample(t, "comparison-results.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := s.results.draft(s.imported)
	return &d.record
}

var indices = regexp.MustCompile(`\[\d+\]`)

// TestEveryField puts odd values into every kind of field, and takes it away.
func TestEveryField(t *testing.T) {
	odd := []any{nil, true, "", "x", -1.0, 0.0, 0.5, 1e300, []any{}, map[string]any{}, []any{map[string]any{"a": 1}}}
	base := baseOf(t)
	for _, name := range []string{"comparison-results.json", "comparison-profiles.json"} {
		var doc any
		if err := json.Unmarshal(sample(t, name), &doc); err != nil {
			t.Fatal(err)
		}
		tried, refused := map[string]bool{}, 0
		encode := func() []byte {
			data, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		try := func(path string) {
			if problem := judge(t, encode(), base); problem != "" {
				refused++
			}
			if t.Failed() {
				t.Fatal("at ", path)
			}
		}
		var walk func(v any, path string)
		walk = func(v any, path string) {
			switch v := v.(type) {
			case map[string]any:
				for key, old := range v {
					at := join(path, key)
					if kind := indices.ReplaceAllString(at, "[]"); !tried[kind] {
						tried[kind] = true
						for _, value := range odd {
							v[key] = value
							try(at)
						}
						delete(v, key)
						try(at)
						v[key] = old
					}
					walk(old, at)
				}
			case []any:
				for i, old := range v {
					if i > 1 {
						break
					}
					for _, value := range odd[:3] {
						v[i] = value
						try(path)
					}
					v[i] = old
					walk(old, path+"[0]")
				}
			}
		}
		walk(doc, "")
		if problem := judge(t, encode(), base); problem != "" {
			t.Errorf("%s is not as it was: %s", name, problem)
		}
		if len(tried) < 15 || refused < 6*len(tried) {
			t.Errorf("%s: %d kinds of field, %d refusals", name, len(tried), refused)
		}
	}
}

// FuzzRead reads anything: it must end with a record or with a place.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"experiment_id":"e","utc":"2026-08-02T09:30:25Z","gpu":"g","platform":"Linux-x86_64","precision":"FP32","timing":"event span",` +
		`"rounds":1,"iterations_per_round":1,"warmup_per_round":0,"results":[{"op":"softmax","dims":[2],"input_hashes":{"seed":1,"sha256":{}},"rounds":` +
		`[{"index":0,"order":["a"],"implementations":{"a":{"samples_us":[1],"event_mean_us":1,"warmup":0,"iterations":1,"correctness":` +
		`{"passed":true,"max_abs_error":0,"rtol":0,"atol":0,"checked_elements":2}}}}]}]}`))
	f.Add([]byte(`{"backend":"nsys","captures":[{"operation":"gelu","language":"rust","launches":1,"requested_iterations":1,"kernel_names":["k"],` +
		`"status":"complete","kernel_metrics":[{"kernel_name":"k","duration_us":1,"grid_size":"1,1,1"}]}]}`))
	base := baseOf(f)
	f.Fuzz(func(t *testing.T, data []byte) { judge(t, data, base) })
}
