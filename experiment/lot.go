package experiment

import (
	"math/rand/v2"
	"slices"

	"mage/timing"
)

// gateEverything is the size of output and inputs together up to which every
// timed region is judged. Beyond it the comparison would take longer than the
// measurement: then so many cells of each arm are judged in a round, drawn without
// replacement, that the planned rounds judge all.
const gateEverything = 64 << 20 // bytes

// drawCells chooses the cells of each entrant that are judged in an attempt at a
// round, of those that it measures: nil for every cell.
func (r *runner) drawCells(w *caseWork, entrants []*entrant, again map[string]bool) [][]string {
	if w.bytes <= gateEverything {
		return nil
	}
	out := make([][]string, len(entrants))
	for i, e := range entrants {
		all := slices.DeleteFunc(r.cells(), func(c string) bool { return e.lacks[c] })
		measured := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return again != nil && !again[c] })
		for range min(len(measured), (len(all)+r.spec.Rounds-1)/r.spec.Rounds) {
			out[i] = append(out[i], e.draw(all, measured))
		}
	}
	return out
}

// cells names every mode × cache state of the plan.
func (r *runner) cells() []string {
	var out []string
	for _, m := range r.modes {
		for _, c := range r.spec.Caches {
			out = append(out, cellName(m, timing.Cache(c)))
		}
	}
	return out
}

// draw takes the next of the measured cells, which are some of all, in an order of
// all that nobody can know.
func (e *entrant) draw(all, measured []string) string {
	e.undrawn = slices.DeleteFunc(e.undrawn, func(c string) bool { return !slices.Contains(all, c) })
	next := func() int {
		return slices.IndexFunc(e.undrawn, func(c string) bool { return slices.Contains(measured, c) })
	}
	at := next()
	if at < 0 { // what the old lots still hold keeps its turn
		lots := slices.Clone(all)
		rand.Shuffle(len(lots), func(i, j int) { lots[i], lots[j] = lots[j], lots[i] })
		e.undrawn = append(e.undrawn, lots...)
		at = next()
	}
	c := e.undrawn[at]
	e.undrawn = slices.Delete(e.undrawn, at, at+1)
	return c
}
