// Package gate decides whether an operation computes its contract: the check
// that must pass before a timing is accepted, and again on what the timed
// region left behind.
//
// Outputs are poisoned before, guard zones are checked after, every element is
// compared with the float64 reference, non-finite values fail, inputs must be
// unchanged. Around one measurement:
//
//	Check Before → Check Challenge → Prepare → timed region → Check LeftBehind → Check Challenge
//
// with PrepareDecoy in place of Prepare in some rounds. docs/contracts.md says
// what each stage catches, what none can see, and how to read a failure.
//
// The package must not know devices, launch paths or timing.
package gate
