package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCutAnywhere cuts samples.jsonl and events.jsonl around the end of every line
// and at many lengths between and checks that exactly the whole rounds before the cut load, that resuming keeps
// them, and that the bytes after them are moved aside, not lost.
func TestCutAnywhere(t *testing.T) {
	w := newRun(t, 2)
	for range 2 {
		if err := w.Event(Event{What: "e"}); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	samples, _ := os.ReadFile(filepath.Join(w.Dir(), SamplesFile))
	events, _ := os.ReadFile(filepath.Join(w.Dir(), EventsFile))
	record, _ := os.ReadFile(filepath.Join(w.Dir(), RecordFile))
	half := len(samples) / 2
	if samples[half-1] != '\n' {
		half = bytes.Index(samples, []byte(`"round":2`)) // in the first line of round 2
		half = bytes.LastIndexByte(samples[:half], '\n') + 1
	}
	step := 11
	if testing.Short() {
		step = 101
	}
	dir := t.TempDir()
	for cut := 0; cut <= len(samples); cut++ {
		if near := samples[max(0, cut-2):min(len(samples), cut+2)]; cut%step != 0 && !bytes.Contains(near, []byte("\n")) {
			continue
		}
		for name, data := range map[string][]byte{RecordFile: record, SamplesFile: samples[:cut], EventsFile: events[:cut%(len(events)+1)]} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, end := 0, 0 // a last line without its newline is whole all the same
		if cut >= half-1 {
			want, end = 1, half
		}
		if cut >= len(samples)-1 {
			want, end = 2, len(samples)
		}
		run, err := Load(dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		rounds := len(run.Rounds(Cell{caseA, "latency", "hot"}))
		leftOut := warned(run, TornLine) > 0 || warned(run, PartialRound) > 0
		eventCut := cut % (len(events) + 1)
		eventTorn := eventCut != 0 && eventCut != len(events) && eventCut != len(events)-1 &&
			events[eventCut-1] != '\n' && events[eventCut] != '\n'
		if rounds != want || leftOut != (cut > end || eventTorn) {
			t.Fatalf("cut at %d of %d (rounds end at %d): %d rounds, want %d; %v", cut, len(samples), half, rounds, want, run.Warnings)
		}
		if cut%(5*step) != 0 && cut < len(samples)-2 && cut != half && cut != half-1 {
			continue
		}
		os.Remove(filepath.Join(dir, SamplesFile+tornSuffix))
		os.Remove(filepath.Join(dir, EventsFile+tornSuffix))
		again, state, err := Resume(dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if n := len(state.Rounds(Cell{caseA, "latency", "hot"})); n != want || again.Session() != 2 {
			t.Fatalf("cut at %d: resumed session %d with %d rounds", cut, again.Session(), n)
		}
		if err := again.AppendRound(testRound(caseA, want+1, 1, 5)); err != nil {
			t.Fatal(err)
		}
		again.Close()
		kept, _ := os.ReadFile(filepath.Join(dir, SamplesFile))
		if !bytes.HasPrefix(kept, samples[:end]) {
			t.Fatalf("cut at %d: the resume changed whole rounds", cut)
		}
		if cut > end {
			aside, _ := os.ReadFile(filepath.Join(dir, SamplesFile+tornSuffix))
			if !bytes.Equal(bytes.TrimRight(aside, "\n"), bytes.TrimRight(samples[end:cut], "\n")) {
				t.Fatalf("cut at %d: the tail was not moved aside", cut)
			}
		}
		run, err = Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(run.Rounds(Cell{caseA, "latency", "hot"})); n != want+1 || warned(run, TornLine) >= 0 || warned(run, PartialRound) >= 0 {
			t.Fatalf("cut at %d: %d rounds after the resume; %v", cut, n, run.Warnings)
		}
	}
}
