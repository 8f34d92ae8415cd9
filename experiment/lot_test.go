package experiment

import (
	"slices"
	"strings"
	"testing"
)

func TestLargeCasesAreJudgedByLot(t *testing.T) {
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	r, err := newRunner(parse(t, fakeSpec), lab(a, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &caseWork{bytes: gateEverything}
	all := []*entrant{{lacks: map[string]bool{"latency hot": true}}}
	for range 50 {
		all = append(all, &entrant{})
	}
	if r.drawCells(w, all, nil) != nil {
		t.Error("a small case is not judged in every cell")
	}
	w.bytes++
	first, second := r.drawCells(w, all, nil), r.drawCells(w, all, nil)
	seen := map[string]bool{}
	for i := range all[1:] {
		seen[first[i+1][0]] = true
		if len(first[i+1]) != 1 || first[i+1][0] == second[i+1][0] {
			t.Errorf("entrant %d was judged in %q and in %q", i+1, first[i+1], second[i+1])
		}
	}
	// Two cells, fifty lots: one of them alone has a chance of 2⁻⁴⁹.
	if len(seen) != 2 || !seen["latency hot"] || !seen["span hot"] {
		t.Errorf("drawn: %v", seen)
	}
	if first[0][0] != "span hot" || second[0][0] != "span hot" {
		t.Errorf("an entrant was drawn for a cell that it lacks: %q, %q", first[0], second[0])
	}
}

// The planned rounds judge every cell, however few they are, and whatever is
// measured again between them.
func TestThePlannedRoundsJudgeEveryCell(t *testing.T) {
	text := strings.Replace(fakeSpec, `["latency", "span"]`, `["latency", "span", "submit", "batch:2", "batch:3", "batch:4", "batch:5"]`, 1)
	a, b := &fake{name: "fake/a", us: 10}, &fake{name: "fake/b", us: 5}
	r, err := newRunner(parse(t, text), lab(a, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &caseWork{bytes: gateEverything + 1}
	for range 20 {
		e := []*entrant{{lacks: map[string]bool{"submit hot": true}}}
		var judged []string
		for range r.spec.Rounds {
			drawn := r.drawCells(w, e, nil)[0]
			if len(drawn) != 2 { // 6 cells in 3 rounds
				t.Fatalf("drawn: %v", drawn)
			}
			judged = append(judged, drawn...)
			// A cell that was disturbed is measured again, alone, and judged.
			if again := r.drawCells(w, e, map[string]bool{"span hot": true})[0]; !slices.Contains(again, "span hot") {
				t.Errorf("measured again and not judged: %v", again)
			}
		}
		slices.Sort(judged)
		if judged = slices.Compact(judged); len(judged) < 5 || len(judged) < 6 && slices.Contains(judged, "span hot") {
			t.Errorf("judged: %v", judged)
		}
	}
}
