package evidence

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mage/evidence/schema"
	"mage/gpu/verdict"
)

func TestWrittenRecordsFollowTheSchemas(t *testing.T) {
	w := newRun(t, 2)
	if err := w.AppendRound(testRound(caseA, 3, 1, 4, "clock-drift")); err != nil {
		t.Fatal(err)
	}
	w.Event(Event{What: "round-disturbed", Level: "warning", Case: caseA, Arm: testArms[0], Round: 3, Detail: "clock-drift"})
	if err := schema.ValidateRun(w.Dir()); err != nil {
		t.Error("running: ", err)
	}
	if err := w.Finish(Incomplete, "interrupted"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	again, _, err := Resume(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	again.Event(Event{What: "session-started"})
	again.Finish(Complete, "")
	again.Close()
	if err := schema.ValidateRun(w.Dir()); err != nil {
		t.Error("complete: ", err)
	}
}

// A record with nothing in it but what Create sets is valid too, as is one with
// every field there is.
func TestExtremeRecordsFollowTheSchema(t *testing.T) {
	s, err := schema.Compile(schema.Record)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(t.TempDir(), "n", Record{Host: Host{Cores: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	data, _ := os.ReadFile(filepath.Join(w.Dir(), RecordFile))
	if err := schema.Validate(s, data); err != nil {
		t.Error(err)
	}
	var full Record
	fill(reflect.ValueOf(&full).Elem(), rand.New(rand.NewPCG(1, 2)))
	full.Schema, full.Status, full.RunID, full.Plan.Confidence = Schema, Complete, "20260910T101500Z-1a2b3c", 0.95
	full.Spec.SHA256, full.Imported.SHA256 = hash(""), hash("x")
	full.Imported.Sources = map[string]string{"comparison.py": hash("y")}
	for i := range full.Cases {
		full.Cases[i].InputSHA256 = map[string]string{"a": hash("a")}
	}
	data, _ = json.Marshal(full)
	if err := schema.Validate(s, data); err != nil {
		t.Error(err)
	}
}

// A renamed or misspelt field anywhere, or a missing one, fails.
func TestSchemasRejectUnknownFields(t *testing.T) {
	line := testRound(caseA, 1, 1, 3, "x")[0]
	line.Session, line.Part, line.Of = 1, 1, 1
	samples, _ := json.Marshal(line)
	event, _ := json.Marshal(Event{Time: time.Now(), Session: 1, Level: "info", What: "w"})
	rec := testRecord()
	rec.Schema, rec.Namespace, rec.RunID, rec.Status = 1, "n", "20260910T101500Z-1a2b3c", Running
	rec.Sessions = []Session{{ID: 1}}
	rec, err := Portable(rec)
	if err != nil {
		t.Fatal(err)
	}
	record, _ := json.Marshal(rec)
	for name, data := range map[string][]byte{schema.Record: record, schema.SamplesLine: samples, schema.EventsLine: event} {
		s, err := schema.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(s, data); err != nil {
			t.Errorf("%s refuses a good document: %v", name, err)
		}
		free := []string{`"versions"`, `"dims"`, `"input_sha256"`, `"params"`, `"warp_instructions"`} // maps: their keys are data
		changed := 0
		for _, field := range fieldNames(data) {
			if inMap(string(data), field, free) {
				continue
			}
			bad := strings.Replace(string(data), field+":", `"renamed":`, 1)
			if schema.Validate(s, []byte(bad)) == nil {
				t.Errorf("%s accepts a document with %s renamed", name, field)
			}
			changed++
		}
		if changed < 4 {
			t.Errorf("%s: only %d fields tried", name, changed)
		}
	}
}

// fieldNames lists the distinct `"key"` of a JSON document.
func fieldNames(data []byte) []string {
	var names []string
	for rest := string(data); ; {
		end := strings.Index(rest, `":`)
		if end < 0 {
			return names
		}
		start := strings.LastIndexByte(rest[:end], '"')
		if name := rest[start : end+1]; !slices.Contains(names, name) {
			names = append(names, name)
		}
		rest = rest[end+2:]
	}
}

// inMap reports whether a key's first occurrence is directly in one of the maps.
func inMap(doc, field string, maps []string) bool {
	at := strings.Index(doc, field+":")
	open := strings.LastIndexByte(doc[:at], '{')
	for _, m := range maps {
		if strings.HasSuffix(doc[:open], m+":") {
			return true
		}
	}
	return false
}

// TestSchemasMatchTypes walks the Go types and the schemas side by side: every
// field of one is a field of the other, and the required ones are those that Go
// always writes.
func TestSchemasMatchTypes(t *testing.T) {
	for name, typ := range map[string]reflect.Type{
		schema.Record:      reflect.TypeFor[Record](),
		schema.SamplesLine: reflect.TypeFor[Line](),
		schema.EventsLine:  reflect.TypeFor[Event](),
	} {
		data, err := fs.ReadFile(schema.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		m := matcher{t: t, defs: doc, used: map[string]bool{}}
		m.match(typ, doc, strings.TrimSuffix(name, ".schema.json"))
		if defs, ok := doc["$defs"].(map[string]any); ok {
			for d := range defs {
				if !m.used[d] {
					t.Errorf("%s: $defs/%s is not used", name, d)
				}
			}
		}
	}
}

type matcher struct {
	t    *testing.T
	defs map[string]any
	used map[string]bool
}

func (m matcher) match(typ reflect.Type, s map[string]any, path string) {
	if r, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(r, "#/$defs/")
		m.used[name] = true
		s = m.defs["$defs"].(map[string]any)[name].(map[string]any)
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ == reflect.TypeFor[verdict.ClassCounts]() { // it is written by class
		typ = reflect.TypeFor[map[string]int64]()
	}
	want := ""
	switch typ.Kind() {
	case reflect.String:
		want = "string"
	case reflect.Bool:
		want = "boolean"
	case reflect.Float64:
		want = "number"
	case reflect.Slice, reflect.Array:
		want = "array"
	case reflect.Map, reflect.Struct:
		want = "object"
		if typ == reflect.TypeFor[time.Time]() {
			want = "string"
		}
	default:
		want = "integer"
	}
	if got, ok := s["type"]; ok && got != want || !ok && s["enum"] == nil && s["const"] == nil {
		m.t.Errorf("%s is a %v in the schema and a %s in Go", path, got, want)
		return
	}
	switch {
	case typ.Kind() == reflect.Slice || typ.Kind() == reflect.Array:
		m.match(typ.Elem(), s["items"].(map[string]any), path+"[]")
	case typ.Kind() == reflect.Map:
		m.match(typ.Elem(), s["additionalProperties"].(map[string]any), path+".*")
	case want == "object":
		if s["additionalProperties"] != false {
			m.t.Errorf("%s lets unknown fields through", path)
		}
		properties := s["properties"].(map[string]any)
		var required []string
		for _, r := range s["required"].([]any) {
			required = append(required, r.(string))
		}
		seen := map[string]bool{}
		for name, f := range jsonFields(typ) {
			seen[name] = true
			p, ok := properties[name].(map[string]any)
			if !ok {
				m.t.Errorf("%s.%s is not in the schema", path, name)
				continue
			}
			if slices.Contains(required, name) != !f.omitted {
				m.t.Errorf("%s.%s: required in the schema and always written by Go must be the same", path, name)
			}
			m.match(f.typ, p, path+"."+name)
		}
		for name := range properties {
			if !seen[name] {
				m.t.Errorf("%s.%s is in the schema and not in Go", path, name)
			}
		}
	}
}

type jsonField struct {
	typ     reflect.Type
	omitted bool // when it is empty
}

func jsonFields(typ reflect.Type) map[string]jsonField {
	fields := map[string]jsonField{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			for n, e := range jsonFields(f.Type) {
				fields[n] = e
			}
			continue
		}
		if name == "-" {
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("%s.%s has no JSON name", typ, f.Name))
		}
		fields[name] = jsonField{f.Type, strings.Contains(options, "omit")}
	}
	return fields
}
