package evidence

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"mage/evidence/schema"
)

func TestCapturesAreAdded(t *testing.T) {
	w := newRun(t, 1)
	if err := w.Finish(Complete, ""); err != nil {
		t.Fatal(err)
	}
	w.Close()
	dir := w.Dir()
	before, err := os.ReadFile(filepath.Join(dir, RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := LoadCaptures(dir); got != nil || err != nil {
		t.Fatalf("%v, %v", got, err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []Capture{{Case: "a", Arm: "x", Backend: "ncu", Outcome: "complete", Operations: 1},
		{Case: "a", Arm: "y", Backend: "ncu", Outcome: "tool-failed", Reason: "no " + home + "/some/file"}} {
		if err := AddCaptures(dir, []Capture{c}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadCaptures(dir)
	if err != nil || len(got) != 2 || got[0].Arm != "x" || got[1].Reason != "no ~/some/file" {
		t.Errorf("%+v, %v", got, err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, RecordFile)); string(after) != string(before) {
		t.Error("the record itself was changed")
	}
	if err := schema.ValidateRun(dir); err != nil {
		t.Error(err)
	}
}

// TestCapturesFollowTheSchema fills every field there is.
func TestCapturesFollowTheSchema(t *testing.T) {
	s, err := schema.Compile(schema.Captures)
	if err != nil {
		t.Fatal(err)
	}
	var full Captures
	fill(reflect.ValueOf(&full).Elem(), rand.New(rand.NewPCG(1, 2)))
	full.Schema = CapturesSchema
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(s, data); err != nil {
		t.Errorf("%v in %s", err, data)
	}
	if err := schema.Validate(s, []byte(`{"schema": 1, "captures": [{"case": "a", "surprise": 1}]}`)); err == nil {
		t.Error("an unknown field was accepted")
	}
}
