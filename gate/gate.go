package gate

import (
	"mage/contract"
)

// GuardBytes is the length of the guard zone before and after every output.
const GuardBytes = 4096

// Subject is what the gate can check: an operation whose output allocation is
// GuardBytes + output + GuardBytes, on whatever device.
type Subject interface {
	// SetInputs overwrites the operation's inputs, in place, with others of the
	// same shapes. Nothing is prepared anew.
	SetInputs(contract.Tensors) error
	// Poison fills the whole output allocation, guard zones included.
	Poison(value byte) error
	// Run performs the operation once and waits for it.
	Run() error
	// Output copies back the whole output allocation, guard zones included.
	Output() ([]byte, error)
	// Inputs copies back the inputs as they are now.
	Inputs() (contract.Tensors, error)
}

// Result is what one gate found. It is retained in the record.
type Result struct {
	// Stage is "before" (timing), "left-behind" (what the timed region wrote) or
	// "challenge" (fresh inputs written in place, same prepared operation).
	Stage       string  `json:"stage"`
	Seed        uint64  `json:"seed"` // of the inputs it was checked with
	Passed      bool    `json:"passed"`
	MaxAbsError float64 `json:"max_abs_error"`
	// MaxRelError is over references of magnitude ≥ atol; nil only in the record of
	// a check that was published without it.
	MaxRelError *float64 `json:"max_rel_error,omitempty"`
	Checked     int      `json:"checked_elements"`
	Failure     string   `json:"failure,omitempty"` // one line; empty when passed
	// Problems is Failure in parts. It is not retained: a Result read back from a
	// record has the line only.
	Problems []Problem `json:"-"`
}

// Err returns nil when the gate passed and a *Failure otherwise.
func (r Result) Err() error {
	if r.Passed {
		return nil
	}
	return &Failure{Stage: r.Stage, Seed: r.Seed, Problems: r.Problems, Line: r.Failure}
}
