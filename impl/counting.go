package impl

import "mage/gpu/verdict"

// Counting is an operation on a device that counts what it executes, and checks
// it, instead of timing it. Its Measure reports every mode unavailable.
type Counting interface {
	Operation
	// Counters are exactly what the last Run cost.
	Counters() verdict.Counters
	// Findings are the defects that the checks found in every Run so far. A Run
	// that shows one returns an error as well.
	Findings() []verdict.Finding
	// Printed is what kernels printed in the last Run.
	Printed() []byte
}
