package experiment

import "time"

// Progress is told what a run is doing. Its methods are called one at a time, between
// measurements, never inside one.
type Progress interface {
	// Started names the record's directory, once it exists.
	Started(dir string, cases int)
	// Case begins a case; index counts from 0.
	Case(index int, id string)
	// Step says what is being done now: "reference", "gate cuda/first@driver".
	Step(what string)
	// Round ends a round; left estimates the time to the end of the case.
	Round(round, of int, disturbed []string, left time.Duration)
	// Note passes on a line that a user should see: a failed gate, a warning.
	Note(line string)
}

// Silent is a Progress that says nothing.
type Silent struct{}

func (Silent) Started(string, int)                     {}
func (Silent) Case(int, string)                        {}
func (Silent) Step(string)                             {}
func (Silent) Round(int, int, []string, time.Duration) {}
func (Silent) Note(string)                             {}
