// Package ancestor brings the evidence that Mage's ancestor published into
// records: comparison-results.json (CUDA-event times of several implementations,
// round by round) and comparison-profiles.json (kernel times of a profiled run).
// docs/history.md describes both.
//
// A file is refused, with the place named, when anything in it does not fit:
// counts, orders, hashes, means, a failed check. What is accepted becomes a record
// that is marked as imported, beside the file itself, byte for byte.
//
// It must not know how records are judged or shown.
package ancestor
